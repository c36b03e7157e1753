import type { ReactElement, ReactNode } from 'react'
import { To } from '../data/go.tsx'
import { Chip } from '../ui/glyph.tsx'
import { MoreMenu, type MenuItem } from '../ui/menu.tsx'
import { CopyMeta, Detail } from './detail.tsx'

type Props = {
  /** The word for screen readers, if it is no run. */
  readonly label?: string
  readonly title: string
  readonly light: { readonly tone: Parameters<typeof Chip>[0]['tone']; readonly word: string; readonly text: string }
  readonly id: string
  readonly actions: ReactNode
  readonly calls: readonly MenuItem[]
  /** Beside the id: links to the things that the run belongs to. */
  readonly meta: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}

/** The panel of one run, of a workflow or of an agent. */
export function RunFrame({
  label = 'Run',
  title,
  light,
  id,
  actions,
  calls,
  meta,
  onClose,
  children,
}: Props): ReactElement {
  return (
    <Detail
      label={label}
      title={title}
      chip={
        <span title={light.text}>
          <Chip tone={light.tone}>{light.word}</Chip>
        </span>
      }
      meta={
        <>
          <CopyMeta text={id} label="Copy ID" />
          {meta}
        </>
      }
      actions={
        <>
          {actions}
          <MoreMenu items={calls} />
        </>
      }
      onClose={onClose}
    >
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        tabIndex={0}
        role="group"
        aria-label={label === 'Run' ? 'Run in steps' : label}
      >
        {children}
      </div>
    </Detail>
  )
}

/** A link from a run to something that it belongs to. */
export function RunLink({
  screen,
  sel,
  children,
}: {
  readonly screen: string
  readonly sel: string
  readonly children: ReactNode
}): ReactElement {
  return (
    <To screen={screen} search={{ sel }} className="inline-flex min-h-6 items-center text-accent underline">
      {children}
    </To>
  )
}
