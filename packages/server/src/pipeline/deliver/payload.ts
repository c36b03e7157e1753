import type { BegunRow } from './attempts/queries.ts'

/** The data of a started attempt on its way from the store to the sender. The machine does not read it. */
export type Payload = BegunRow

/** The evidence that the sender collected for an attempt, on its way through the machine to the attempt's row. */
export type Evidence = {
  readonly durationMs: number | null
  readonly headers: string | null
  readonly body: string | null
  readonly truncated: boolean | null
  readonly detail: string | null
  /** The request as it is stored; null: none was sent. */
  readonly request: string | null
}
