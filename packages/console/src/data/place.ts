import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import { createContext, useContext } from 'react'
import { clientOf } from './client.ts'

export type Me = RouteAnswer<Routes['me']['get']>
export type Project = RouteAnswer<Routes['projects']['list']>['projects'][number]

/** The project that is open, and the person in it. */
export type Place = { readonly me: Me; readonly project: Project; readonly projects: readonly Project[] }

export const PlaceContext = createContext<Place | undefined>(undefined)

export function usePlace(): Place {
  const place = useContext(PlaceContext)
  if (place === undefined) throw new Error('Use this inside a project.')
  return place
}

/** The client of the open project. */
export function useClient(): Client {
  return clientOf(usePlace().project.id)
}

const RANK: Readonly<Record<Me['role'], number>> = { viewer: 0, developer: 1, admin: 2, owner: 3 }

/** Whether the person's role reaches that of a route: `useMay(routes.rules.create)`. A button whose role is out of reach is dimmed. */
export function useMay(route: { readonly role: Me['role'] }): boolean {
  return RANK[usePlace().me.role] >= RANK[route.role]
}
