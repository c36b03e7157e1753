import { Link, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import type { ComponentProps, ReactElement, ReactNode } from 'react'
import { searchText, type Search } from './search-text.ts'

/** The address of a screen of the open project: `useHref()('deliveries')`. */
export function useHref(): (screen: string) => string {
  const { workspace = '', project = '' } = useParams({ strict: false })
  return (screen) => `/${workspace}/${project}/${screen}`
}

/** Goes to a screen of the open project. */
export function useGo(): (screen: string, search?: Search) => void {
  const href = useHref()
  const navigate = useNavigate()
  return (screen, search = {}) => void navigate({ to: href(screen), search })
}

/** A link to a screen of the open project. */
export function To({
  screen,
  search = {},
  children,
  ...rest
}: { readonly screen: string; readonly search?: Search; readonly children: ReactNode } & Pick<
  ComponentProps<'a'>,
  'className' | 'title' | 'aria-current' | 'onClick'
>): ReactElement {
  const href = useHref()
  return (
    <Link to={href(screen)} search={search} {...rest}>
      {children}
    </Link>
  )
}

/**
 * The search part of the address, and a function that changes some of it; undefined removes a member. Opening something
 * beside a list (`sel`) is a step of the history, so Back closes it again; every other change replaces the address.
 */
export function useSearchState<S extends Search>(): readonly [
  S,
  (change: Partial<S>, options?: { readonly replace?: boolean }) => void,
] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts and lists of texts; a screen reads only those that it knows
  const search = useSearch({ strict: false }) as S
  const navigate = useNavigate()
  const router = useRouter()
  return [
    search,
    (change, { replace = true } = {}) => {
      // The latest address: two changes can arrive before anything is drawn.
      const { search: now, state } = router.latestLocation
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts and lists of texts, as `search` has
      const before = now as Search
      const opens = change['sel'] !== undefined && before['sel'] === undefined
      if (before['sel'] !== undefined && state.list === searchText({ ...before, ...change })) {
        router.history.back()
        return
      }
      void navigate({
        to: '.',
        search: (old: object) => ({ ...old, ...change }),
        replace: replace && !opens,
        state: opens ? (old) => ({ ...old, list: searchText(before) }) : true,
      })
    },
  ]
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The search of the list that the previous entry shows. */
    readonly list?: string
  }
}
