import type { BegunRow } from './attempts/queries.ts'

/** What a begun attempt carries from the store to the sender; the machine hands it on unread. */
export type Payload = BegunRow

/** What the sender saw of an attempt, on its way through the machine to the attempt's row. */
export type Evidence = {
  readonly durationMs: number | null
  readonly headers: string | null
  readonly body: string | null
  readonly truncated: boolean | null
  readonly detail: string | null
}
