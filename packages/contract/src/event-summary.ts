import { z } from 'zod'
import { LIMITS } from './limits.ts'

const { payloadStartCharsMax, titleReadCharsMax } = LIMITS

/** The event of a delivery, in a few words. */
export const EventSummary = z.object({
  title: z
    .string()
    .nullable()
    .describe(
      `What the sender calls the event, by \`event_title\` of its endpoint, as far as the first ${titleReadCharsMax.toLocaleString('en')} characters of the payload say so. null: they do not name it.`,
    ),
  payload_start: z.string().describe(`The first ${payloadStartCharsMax} characters of the payload.`),
})
export type EventSummary = z.infer<typeof EventSummary>
