import { z } from 'zod'
import { Timestamp } from './list.ts'

/** The last failure of a source or of a trigger, as the project sees it. It contains no credential. */
export const OriginError = z
  .object({
    at: Timestamp,
    reason: z.string().describe('A machine-readable word.'),
    error: z.string().describe('One sentence: what went wrong and what to do.'),
  })
  .describe('The last error.')
export type OriginError = z.output<typeof OriginError>
