import { ChevronDown } from 'lucide-react'
import { createContext, useContext, useRef, type ReactElement, type ReactNode } from 'react'
import { Menu } from './menu.tsx'
import { useIsNarrow } from './width.ts'

type Props = {
  readonly title: string
  /** Beside the title: views, a count. */
  readonly beside?: ReactNode
  /** At the right end: the actions of the screen. */
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** The line below a list: its count and its keys. */
  readonly foot?: ReactNode
}

/** Below this width the views of a head become a menu. */
const NARROW_PX = 620
const NarrowContext = createContext(false)
/** The open project, for windows whose side bar does not name it; undefined: it is the only one. */
export const ProjectSlug = createContext<string | undefined>(undefined)

/** A screen: its head, its body, which scrolls, and its foot. */
export function Page({ title, beside, actions, children, foot }: Props): ReactElement {
  const project = useContext(ProjectSlug)
  const section = useRef<HTMLElement>(null)
  const isNarrow = useIsNarrow(section, NARROW_PX)
  return (
    <section
      ref={section}
      aria-labelledby="page-title"
      className="grid h-full min-h-0 min-w-0 grid-cols-[minmax(0,1fr)] grid-rows-[auto_minmax(0,1fr)_auto]"
    >
      <header className="flex min-h-12 min-w-0 flex-wrap items-center gap-x-4 gap-y-1 py-1.5 pr-3 pl-[18px]">
        {project !== undefined && <span className="-mr-2 max-w-32 truncate text-ink-3 xl:hidden">{project}</span>}
        <h1 id="page-title" className="text-page whitespace-nowrap">
          {title}
        </h1>
        <NarrowContext value={isNarrow}>{beside}</NarrowContext>
        <div className="ml-auto flex min-w-0 flex-wrap items-center justify-end gap-2 whitespace-nowrap max-md:grow">
          {actions}
        </div>
      </header>
      <div className="flex min-h-0 min-w-0 flex-col overflow-x-clip">{children}</div>
      {foot !== undefined && (
        <footer className="flex h-8 items-center gap-2.5 border-t border-line pr-3 pl-[18px] text-data text-ink-3">
          {foot}
        </footer>
      )}
    </section>
  )
}

type ViewsProps<Id extends string> = {
  readonly of: readonly { readonly id: Id; readonly label: string; readonly count?: number | undefined }[]
  readonly at: Id
  readonly go: (id: Id) => void
  readonly label: string
}

/** Quiet tabs beside the title: views of a list; a menu where the head has no room for them. */
export function Views<Id extends string>(props: ViewsProps<Id>): ReactElement {
  return useContext(NarrowContext) ? <FoldedViews {...props} /> : <AllViews {...props} />
}

function AllViews<Id extends string>({ of, at, go, label }: ViewsProps<Id>): ReactElement {
  // Beside other counts, a view without a number would look as if it were not counted.
  const isCounted = of.some(({ count = 0 }) => count > 0)
  return (
    <div className="flex min-w-0 gap-0.5 overflow-x-auto" role="group" aria-label={label}>
      {of.map((view) => (
        <button
          key={view.id}
          type="button"
          aria-pressed={view.id === at}
          onClick={() => go(view.id)}
          className="h-[26px] rounded-row px-[9px] font-control whitespace-nowrap text-ink-3 hover:bg-hover aria-pressed:bg-press aria-pressed:text-ink"
        >
          {view.label}
          {isCounted && view.count !== undefined && <span className="mono ml-[5px] text-label">{view.count}</span>}
        </button>
      ))}
    </div>
  )
}

/** The views where there is no room: the current view, and the others in a menu. */
export function FoldedViews<Id extends string>({ of, at, go, label }: ViewsProps<Id>): ReactElement {
  const shown = of.find(({ id }) => id === at)?.label ?? ''
  return (
    <Menu
      label={`${label}: ${shown}`}
      className="flex h-[26px] items-center gap-1 rounded-row bg-press pr-1.5 pl-[9px] font-control whitespace-nowrap"
      items={of.map((view) => ({ label: view.label, hint: view.id === at ? '✓' : '', go: () => go(view.id) }))}
    >
      {shown}
      <ChevronDown className="size-3.5 text-ink-2" strokeWidth={1.5} aria-hidden />
    </Menu>
  )
}
