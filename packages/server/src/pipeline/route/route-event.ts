import { parseStoredJson } from '../../domain/json/json-text.ts'
import { UNLIMITED } from '../../domain/work-budget.ts'
import type { SharedText } from '../../platform/heavy/shared.ts'
import { task } from '../../platform/heavy/task.ts'
import { uuidsFrom } from '../../platform/ids.ts'
import type { Decided, Rejected } from '../types.ts'
import { decide, type Routable } from './decide.ts'
import { readRouting } from './routing.ts'

export type RouteEvent = {
  readonly shared: SharedText
  /** Its payload is in its text. */
  readonly event: Omit<Routable, 'payload'>
  /** The ids of the event follow this one. */
  readonly firstId: string
}

/** Routes an event in a thread. */
export const routeEvent = task('event.route', ({ shared, event, firstId }: RouteEvent): Decided | Rejected => {
  const parsed = parseStoredJson(event.text)
  const payload = parsed.ok ? parsed.value : null
  return decide({ uuid: uuidsFrom(firstId), routing: readRouting(shared), budget: UNLIMITED }, { ...event, payload })
})
