import type { Deps } from '../../context.ts'
import {
  confirmStreamPlaces,
  CONFIRM_MS,
  leaveStreamPlace,
  takeStreamPlace,
  type Place,
} from '../../resources/serving/stream/index.ts'

/** The places of this process's clients under the caps of their workspaces' plans. */
export type Places = {
  /** A place where `max` may be, null being any number; undefined when all are taken. To be left in any case. */
  take(workspaceId: string, max: number | null): Promise<Place | undefined>
  leave(place: Place): void
  /** Says now and then that they are still held. */
  confirm(now: number): void
}

export function createPlaces(deps: Deps): Places {
  const held = new Set<Place>()
  let confirmAt = 0
  return {
    take: async (workspaceId, max) => {
      const place = { workspaceId, id: deps.uuid() }
      if (max === null) return place
      if (!(await takeStreamPlace(deps, { ...place, max }))) return undefined
      held.add(place)
      return place
    },
    leave: (place) => {
      if (!held.delete(place)) return
      leaveStreamPlace(deps, place).catch((cause: unknown) => deps.retryLog.warn('stream.place_not_left', { cause }))
    },
    confirm: (now) => {
      if (now < confirmAt) return
      confirmAt = now + CONFIRM_MS
      if (held.size === 0) return
      confirmStreamPlaces(deps, [...held]).catch((cause: unknown) =>
        deps.retryLog.warn('stream.places_not_confirmed', { cause }),
      )
    },
  }
}
