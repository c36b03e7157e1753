import type { Route, RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import { createContext, useContext } from 'react'
import { needs } from '../ui/states.tsx'
import { clientOf } from './client.ts'

export type Me = RouteAnswer<Routes['me']['get']>
export type Project = RouteAnswer<Routes['projects']['list']>['projects'][number]

/** The project that is open, and the person in it. */
export type Place = { readonly me: Me; readonly project: Project; readonly projects: readonly Project[] }

export const PlaceContext = createContext<Place | undefined>(undefined)

export function usePlace(): Place {
  const place = useContext(PlaceContext)
  if (place === undefined) throw new Error('Use this hook inside a project.')
  return place
}

/** The client of the open project. */
export function useClient(): Client {
  return clientOf(usePlace().project.id)
}

const RANK: Readonly<Record<Me['role'], number>> = { viewer: 0, developer: 1, admin: 2, owner: 3 }

/** The declarations of a route that decide whether this person may call it now. */
type Guarded = Pick<Route, 'role' | 'whileSuspended' | 'ownersWhileSuspended' | 'whileClosed' | 'operator'>

/**
 * Why the person may not call a route now, as a sentence for the title of a dimmed button; undefined when they may:
 * `useRefusal(routes.rules.create)`. A suspended or closed workspace refuses everyone, so it comes before the role.
 */
export function useRefusal(route: Guarded): string | undefined {
  const { role, whileSuspended, ownersWhileSuspended, whileClosed, operator } = route
  const { me } = usePlace()
  const { suspended, closed } = me.workspace
  if (operator === true) return me.operator ? undefined : 'Only an installation operator can do this.'
  const isForOwner = ownersWhileSuspended === true && me.role === 'owner'
  if (whileSuspended === 'refused' && suspended && !isForOwner)
    return 'This workspace is suspended, so this cannot be changed.'
  if (whileSuspended === 'refused' && closed && whileClosed !== 'allowed')
    return 'This workspace is closed, so this cannot be changed. An owner can reopen it.'
  return RANK[me.role] >= RANK[role] ? undefined : needs(role)
}

/** Whether the person may call a route now: `useMay(routes.rules.create)`. */
export function useMay(route: Guarded): boolean {
  return useRefusal(route) === undefined
}
