import type { Deps } from '../../context.ts'
import {
  confirmStreamPlaces,
  CONFIRM_MS,
  leaveStreamPlace,
  takeStreamPlace,
  type Place,
} from '../../resources/serving/stream/index.ts'

/** The places of this process's clients, under the limits of their workspaces' plans. */
export type Places = {
  /** Takes one of `max` places (null: unlimited); undefined when all are taken. The caller must always leave it. */
  take(workspaceId: string, max: number | null): Promise<Place | undefined>
  leave(place: Place): void
  /** Confirms from time to time that the places are still in use. */
  confirm(now: number): void
}

export function createPlaces(deps: Deps): Places {
  const taken = new Set<Place>()
  /** The client of each workspace that asks the database for a place. */
  const asking = new Map<string, Promise<boolean>>()
  let confirmAt = 0

  /** A refusal counts for all who waited for it, so any number of them occupies one connection of the database. */
  const ask = async (at: Place & { max: number }): Promise<boolean> => {
    const { workspaceId } = at
    for (let other = asking.get(workspaceId); other !== undefined; other = asking.get(workspaceId)) {
      // oxlint-disable-next-line no-await-in-loop -- the clients of a workspace ask one after another
      if (!(await other)) return false
    }
    const own = takeStreamPlace(deps, at).finally(() => asking.delete(workspaceId))
    asking.set(workspaceId, own)
    return own
  }

  return {
    take: async (workspaceId, max) => {
      const place = { workspaceId, id: deps.uuid() }
      if (max === null) return place
      if (!(await ask({ ...place, max }))) return undefined
      taken.add(place)
      return place
    },
    leave: (place) => {
      if (!taken.delete(place)) return
      leaveStreamPlace(deps, place).catch((cause: unknown) => deps.retryLog.warn('stream.place_not_left', { cause }))
    },
    confirm: (now) => {
      if (now < confirmAt) return
      confirmAt = now + CONFIRM_MS
      if (taken.size === 0) return
      confirmStreamPlaces(deps, [...taken]).catch((cause: unknown) =>
        deps.retryLog.warn('stream.places_not_confirmed', { cause }),
      )
    },
  }
}
