import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ComponentProps, ReactElement, ReactNode } from 'react'
import type { Search } from './search-text.ts'

/** The address of a screen of the project that is shown: `useHref()('deliveries')`. */
export function useHref(): (screen: string) => string {
  const { workspace = '', project = '' } = useParams({ strict: false })
  return (screen) => `/${workspace}/${project}/${screen}`
}

/** Goes to a screen of the project that is shown. */
export function useGo(): (screen: string, search?: Search) => void {
  const href = useHref()
  const navigate = useNavigate()
  return (screen, search = {}) => void navigate({ to: href(screen), search })
}

/** A link to a screen of the project that is shown. */
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

/** What stands behind the "?" now, and a way to change some of it; undefined takes a member out. */
export function useSearchState<S extends Search>(): readonly [
  S,
  (change: Partial<S>, options?: { readonly replace?: boolean }) => void,
] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts and lists of texts, of which the screen reads those that it knows
  const search = useSearch({ strict: false }) as S
  const navigate = useNavigate()
  return [
    search,
    (change, { replace = true } = {}) =>
      void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }), replace }),
  ]
}
