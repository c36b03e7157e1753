import { z } from 'zod'
import { Failure } from './decision.ts'
import { idOutput } from './ids.ts'
import { LIMITS } from './limits.ts'
import { Timestamp } from './list.ts'

const { dryRunPayloadsMax, dryRunRecentDefault } = LIMITS

/** The payloads of a dry run: sent ones, stored ones, or both. */
export const DryRunOn = {
  payloads: z.array(z.unknown()).max(dryRunPayloadsMax).optional().describe('Payloads to test with.'),
  payloads_text: z
    .string()
    .optional()
    .describe(
      'The payloads as the text of a JSON list, for numbers that JSON parsers round. Do not combine it with payloads.',
    ),
  recent: z
    .int()
    .min(0)
    .max(dryRunPayloadsMax)
    .optional()
    .describe(
      `The number of newest stored payloads to test with. Absent: ${dryRunRecentDefault}, or none when payloads are sent.`,
    ),
}

/** The result for each payload: sent ones first, then stored ones, newest first. */
export const DryRun = z.object({
  matched: z.int().describe('The number of payloads that met all conditions.'),
  tested: z.int(),
  budget_used_up: z
    .boolean()
    .optional()
    .describe('true: the call used up its work budget and left payloads out. Test with fewer payloads.'),
  not_looked_at: z.int().optional().describe('With budget_used_up: the number of payloads left out at the end.'),
  results: z
    .array(
      z.object({
        index: z.int().nullable().describe('The index in the payloads that were sent; null: a stored payload.'),
        submission_id: idOutput('submission').nullable(),
        received_at: Timestamp.nullable(),
        matched: z.boolean(),
        failed: Failure.nullable().describe('The first condition that failed, and the value that it compared.'),
        data: z
          .unknown()
          .describe('The record that would be written; null when none would be, or when it was left out.'),
        data_left_out: z
          .boolean()
          .describe('true: data was left out because the response was too long. Test with fewer payloads.'),
        error: z.string().nullable().describe('The reason why a stored payload could not be read.'),
      }),
    )
    .describe(
      `One for each payload. An endpoint that splits has one for each item, the first ${dryRunPayloadsMax} of a payload.`,
    ),
})
export type DryRun = z.infer<typeof DryRun>
