import { storedView, type StoredRequest } from '../capture/request-view.ts'
import type { Event } from './delivery-request.ts'

/** An event for a transform. `headers`: those of the received request that go along. */
export type ProgramEvent = Event & {
  readonly headers: Readonly<Record<string, string>>
  /** undefined: no sender sent the event, or the code does not read its request. */
  readonly request: StoredRequest | undefined
}

/** The event as JSON, with the payload byte for byte. The prelude adds \`body\`, which shares its values with the rest. */
function programEvent({ id, dataset, received_at, data, headers, request }: ProgramEvent): string {
  const view = request === undefined ? null : storedView(request)
  const shown =
    view === null ? null : { method: view.method, path: view.path, headers: view.headers, query: view.query }
  const head = JSON.stringify({ id, dataset, received_at: received_at.toISOString(), headers, request: shown })
  return `${head.slice(0, -1)},"data":${data}}`
}

/** An event with the parts of a run that follow from it. The time that the code sees is the one at which the event came. */
export const programInput = (event: ProgramEvent, form: 'envelope' | 'data') =>
  ({ event: programEvent(event), form, nowMs: event.received_at.getTime(), seed: seedOf(event.id) }) as const

/** Whether code may read the request. Reading it costs a statement for each delivery. */
export const usesRequest = (code: string): boolean => /\brequest\b/.test(code)

/** Chance in a transform follows from the id of the event, so that every attempt makes the same request. */
function seedOf(id: string): number {
  let seed = 0x81_1c_9d_c5
  for (let index = 0; index < id.length; index += 1) seed = Math.imul(seed ^ id.charCodeAt(index), 0x01_00_01_93)
  return seed | 0
}
