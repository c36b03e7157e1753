import { ChevronDown } from 'lucide-react'
import type { ReactElement } from 'react'
import { Menu, type MenuItem } from '../ui/menu.tsx'

/** A filter of a list by one thing with a name, such as a workflow. */
export function FilterMenu({
  label,
  every,
  of,
  at,
  go,
}: {
  readonly label: string
  /** The choice that filters nothing: `All workflows`. */
  readonly every: string
  readonly of: readonly { readonly id: string; readonly name: string }[]
  readonly at: string | undefined
  readonly go: (id: string | undefined) => void
}): ReactElement {
  const items: MenuItem[] = [
    { label: every, hint: at === undefined ? '✓' : '', go: () => go(undefined) },
    ...of.map(({ id, name }) => ({ label: name, hint: id === at ? '✓' : '', go: () => go(id) })),
  ]
  const shown = at === undefined ? every : (of.find(({ id }) => id === at)?.name ?? at)
  return (
    <Menu
      label={`${label}: ${shown}`}
      align="end"
      items={items}
      className={`flex h-7 max-w-56 items-center gap-1.5 rounded-button border px-2.5 font-control ${at === undefined ? 'border-line-2 text-ink-2' : 'border-accent-line bg-accent-soft text-accent'}`}
    >
      <span className="truncate">{shown}</span>
      <ChevronDown className="size-3.5 flex-none" strokeWidth={1.5} aria-hidden />
    </Menu>
  )
}
