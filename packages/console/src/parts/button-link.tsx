import { ArrowRight } from 'lucide-react'
import type { ReactElement } from 'react'
import { To } from '../data/go.tsx'
import type { Search } from '../data/search-text.ts'

/** A link to a screen of the open project that looks like a button. The arrow says that it leads away from this screen. */
export function ButtonLink({
  screen,
  search,
  hasArrow = false,
  children,
}: {
  readonly screen: string
  readonly search?: Search
  readonly hasArrow?: boolean
  readonly children: string
}): ReactElement {
  return (
    <To
      screen={screen}
      {...(search === undefined ? {} : { search })}
      className="inline-flex h-7 items-center gap-1.5 rounded-button border border-line-2 px-2.5 font-control whitespace-nowrap text-ink hover:bg-sunken"
    >
      {children}
      {hasArrow && <ArrowRight className="size-3.5 text-ink-2" strokeWidth={1.5} aria-hidden />}
    </To>
  )
}
