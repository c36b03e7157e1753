import { Terminal } from 'lucide-react'
import type { ReactElement } from 'react'
import { usePlace } from '../data/place.ts'
import { useCopy } from '../ui/copy.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { callsOf, type CopiedCall } from './commands.ts'

export type { CopiedCall } from './commands.ts'

type Item = Exclude<MenuItem, 'line'>

/**
 * Makes the items of a menu that copy a call, in each form in which it exists. A body contains no secret, because the command goes
 * into the history of a shell.
 */
export function useCopyItemsOf(): (call: CopiedCall, what?: string) => readonly Item[] {
  const { project } = usePlace()
  const copy = useCopy()
  return (call, what = '') => {
    const { curl, cli, mcp } = callsOf(call, project)
    const subject = what === '' ? '' : ` ${what}`
    const item = (form: string, text: string | undefined): readonly Item[] =>
      text === undefined
        ? []
        : [{ label: `Copy${subject} as ${form}`, go: () => void copy(text, `Copied as ${form.replace(/^an? /, '')}`) }]
    return [...item('curl', curl), ...item('a CLI command', cli), ...item('an MCP call', mcp)]
  }
}

/** The same for one call. */
export function useCopyItems(call: CopiedCall | undefined, what = ''): readonly Item[] {
  const itemsOf = useCopyItemsOf()
  return call === undefined ? [] : itemsOf(call, what)
}

/** Copies the call of the main button beside it, in each form. There is no call while the form has a fault. */
export function CopyAs({
  call,
  className = '',
}: {
  readonly call: CopiedCall | undefined
  readonly className?: string
}): ReactElement {
  const items = useCopyItems(call)
  return (
    <CopyMenu
      items={items.length === 0 ? [{ label: 'Complete the form first', go: () => undefined, disabled: true }] : items}
      className={className}
    />
  )
}

/** The button of a copy menu, for calls outside the admin API. */
export function CopyMenu({
  items,
  className,
}: {
  readonly items: readonly MenuItem[]
  readonly className: string
}): ReactElement {
  return (
    <Menu
      items={items}
      className={`inline-flex h-7 items-center first:-ml-2.5 gap-[7px] rounded-button px-2.5 font-control whitespace-nowrap text-ink-2 hover:bg-hover hover:text-ink ${className}`}
    >
      <Terminal className="size-3.5" strokeWidth={1.5} aria-hidden />
      Copy as…
    </Menu>
  )
}
