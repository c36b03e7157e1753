import { X } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { To } from '../data/go.tsx'
import { IconButton } from '../ui/button.tsx'
import { CopyMeta } from './detail.tsx'
import { Chip } from '../ui/glyph.tsx'
import { MoreMenu, type MenuItem } from '../ui/menu.tsx'

type Props = {
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
export function RunFrame({ title, light, id, actions, calls, meta, onClose, children }: Props): ReactElement {
  return (
    <section
      aria-label="Run"
      className="flex min-h-0 min-w-0 flex-col border-l border-line bg-surface max-lg:border-l-0"
    >
      <header className="pt-3 pr-3.5 pb-3 pl-5">
        <div className="flex items-start gap-2">
          <div className="flex min-h-7 min-w-0 flex-1 flex-wrap items-center gap-2">
            <h2 className="max-w-full truncate text-title">{title}</h2>
            <span title={light.text}>
              <Chip tone={light.tone}>{light.word}</Chip>
            </span>
            <div className="ml-auto flex flex-wrap items-center gap-2 max-md:ml-0">
              {actions}
              <MoreMenu items={calls} />
            </div>
          </div>
          <IconButton label="Close" onClick={onClose}>
            <X strokeWidth={1.5} />
          </IconButton>
        </div>
        <div className="mt-0.5 flex min-h-6 flex-wrap items-center gap-x-4 text-meta text-ink-3">
          <CopyMeta text={id} label="Copy ID" />
          {meta}
        </div>
      </header>
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        tabIndex={0}
        role="group"
        aria-label="Run in steps"
      >
        {children}
      </div>
    </section>
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
