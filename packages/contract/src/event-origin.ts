import { z } from 'zod'
import { ORIGIN_KINDS } from './origins.ts'

/** The part of a project that made an event without a sender: its kind, and its id in the API. */
export const EventOrigin = z
  .object({ kind: z.enum(ORIGIN_KINDS), id: z.string() })
  .nullable()
  .describe(
    'The part of the project that made an event without a sender; for a workflow, the instance; for an alert, the alert. Null: a sender sent it.',
  )
export type EventOrigin = z.output<typeof EventOrigin>
