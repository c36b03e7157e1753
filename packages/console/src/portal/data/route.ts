import { useSyncExternalStore } from 'react'

/** The part of the portal that is shown. The address contains it, so that Back, a reload and a link work. */
export type Route =
  | { readonly view: 'destinations' }
  | { readonly view: 'new' }
  | { readonly view: 'destination'; readonly id: string }
  | {
      readonly view: 'deliveries'
      readonly status?: string
      readonly destination?: string
      readonly id?: string
    }
  | { readonly view: 'event-types' }

export function routeIn(search: string): Route {
  const members = new URLSearchParams(search)
  const text = (name: string): string | undefined => members.get(name) ?? undefined
  const id = text('id')
  switch (members.get('view')) {
    case 'new':
      return { view: 'new' }
    case 'destination':
      return id === undefined ? { view: 'destinations' } : { view: 'destination', id }
    case 'deliveries':
      return without({ view: 'deliveries', status: text('status'), destination: text('destination'), id })
    case 'event-types':
      return { view: 'event-types' }
    case null:
    default:
      return { view: 'destinations' }
  }
}

export function searchOf(route: Route): string {
  const members = new URLSearchParams(Object.entries(route).filter(([, value]) => value !== undefined))
  return route.view === 'destinations' ? location.pathname : `${location.pathname}?${members.toString()}`
}

type Deliveries = Extract<Route, { view: 'deliveries' }>
function without({ view, ...rest }: { [Name in keyof Deliveries]: Deliveries[Name] | undefined } & Deliveries): Route {
  return { view, ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) }
}

const listeners = new Set<() => void>()
const changed = (): void => {
  for (const listener of listeners) listener()
}
addEventListener('popstate', changed)

let isInPlace = false

/** From now on no view is a step of the history, because a frame shares the history of the page around it. */
export function stayInPlace(): void {
  isInPlace = true
}

/** `replace`: a filter is not a step of the history. */
export function go(route: Route, { replace = false } = {}): void {
  history[replace || isInPlace ? 'replaceState' : 'pushState'](null, '', searchOf(route))
  changed()
}

export function useRoute(): Route {
  const search = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => location.search,
  )
  return routeIn(search)
}
