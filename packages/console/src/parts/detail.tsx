import { X } from 'lucide-react'
import { createContext, useContext, type ReactElement, type ReactNode } from 'react'
import { IconButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy.tsx'

type Props = {
  /** The kind of thing: the name of the region. */
  readonly label: string
  readonly title: string
  readonly chip: ReactElement
  /** The line below the title: an address and an id. Pressing one copies it. */
  readonly meta: ReactNode
  readonly actions: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}

/** One thing beside its list: its title, status and actions; its tabs are the children. */
export function Detail({ label, title, chip, meta, actions, onClose, children }: Props): ReactElement {
  return (
    <section
      aria-label={label}
      className="flex min-h-0 min-w-0 flex-col border-l border-line bg-surface max-lg:border-l-0"
    >
      <header className="pt-3 pr-3.5 pb-3 pl-5">
        <div className="flex items-start gap-2">
          <div className="flex min-h-7 min-w-0 flex-1 flex-wrap items-center gap-2">
            <h2 className="max-w-full shrink-0 truncate text-title">{title}</h2>
            {chip}
            <div className="ml-auto flex flex-wrap items-center gap-2 max-md:ml-0">{actions}</div>
          </div>
          <IconButton label="Close" onClick={onClose}>
            <X strokeWidth={1.5} />
          </IconButton>
        </div>
        <div className="mt-0.5 max-md:mt-1.5 flex min-h-6 flex-wrap items-center gap-x-4 text-meta text-ink-3">
          {meta}
        </div>
      </header>
      {children}
    </section>
  )
}

export function CopyMeta({ text, label }: { readonly text: string; readonly label: string }): ReactElement {
  return (
    <CopyButton text={text} label={label} className="mono max-w-full min-w-0 text-ink-2">
      <span className="truncate">{text}</span>
    </CopyButton>
  )
}

/** The level of the headings of parts: `h2` on a page without a heading between its title and its parts. */
export const PartHeading = createContext<'h2' | 'h3'>('h3')

/** A part of a tab, with its heading and a line about its purpose. */
export function Part({
  title,
  text,
  children,
  beside,
}: {
  readonly title: string
  readonly text?: ReactNode
  readonly children: ReactNode
  readonly beside?: ReactNode
}): ReactElement {
  const isBelowTitle = useContext(PartHeading) === 'h2'
  return (
    <section className="border-b border-line px-5 py-5 last:border-b-0">
      <div className="mb-3 flex max-w-[720px] flex-wrap items-start gap-3">
        <div className="min-w-[220px] flex-1">
          {isBelowTitle ? <h2 className="font-title">{title}</h2> : <h3 className="font-title">{title}</h3>}
          {text !== undefined && <p className="max-w-[68ch] text-ink-3">{text}</p>}
        </div>
        {beside}
      </div>
      <div className="max-w-[720px]">{children}</div>
    </section>
  )
}

export function Facts({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }): ReactElement {
  return (
    <dl className="mb-3.5">
      {of.map(([name, value]) => (
        <div
          key={name}
          className="grid min-h-7 grid-cols-[150px_minmax(0,1fr)] max-md:grid-cols-[110px_minmax(0,1fr)] items-center gap-3 border-b border-line/55 py-1 last:border-b-0"
        >
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
