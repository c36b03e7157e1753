import { z } from 'zod'
import { Failure } from './decision.ts'
import { idOutput } from './ids.ts'
import { LIMITS } from './limits.ts'
import { Timestamp } from './list.ts'

const { dryRunPayloadsMax, dryRunRecentDefault } = LIMITS

/** What conditions and mappings are tried on: payloads that are sent, stored ones, or both. */
export const DryRunOn = {
  payloads: z.array(z.unknown()).max(dryRunPayloadsMax).optional().describe('Payloads to try it on.'),
  payloads_text: z
    .string()
    .optional()
    .describe('The same as the text of a JSON list, for numbers that JSON readers round. Not together with payloads.'),
  recent: z
    .int()
    .min(0)
    .max(dryRunPayloadsMax)
    .optional()
    .describe(
      `How many of the newest stored payloads to try it on. Absent: ${dryRunRecentDefault}, or none when payloads are sent.`,
    ),
}

/** What would have become of each payload, the sent ones first, then the stored ones, newest first. */
export const DryRun = z.object({
  matched: z.int().describe('How many of them met all conditions.'),
  tested: z.int(),
  budget_used_up: z
    .boolean()
    .optional()
    .describe('Set when it took as much work as one call may do, so that payloads were left out: try it on fewer.'),
  not_looked_at: z.int().optional().describe('With budget_used_up: how many payloads were left out, from the end.'),
  results: z.array(
    z.object({
      index: z.int().nullable().describe('Its place in the payloads that were sent; null: a stored one.'),
      submission_id: idOutput('submission').nullable(),
      received_at: Timestamp.nullable(),
      matched: z.boolean(),
      failed: Failure.nullable().describe('The first condition that failed, and the value it compared.'),
      data: z.unknown().describe('The record that would be written; null when none would, or when it was left out.'),
      data_left_out: z.boolean().describe('The answer was long enough already; try it on fewer payloads.'),
      error: z.string().nullable().describe('Why a stored payload could not be read.'),
    }),
  ),
})
export type DryRun = z.infer<typeof DryRun>
