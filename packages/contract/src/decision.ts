import { z } from 'zod'
import { VERIFIED_SCHEMES } from './verification.ts'

/** Why a list of conditions did not hold: the first that failed, and the value it saw. */
export const Failure = z.object({
  index: z.int(),
  path: z.string(),
  op: z.string(),
  expected: z.unknown().optional(),
  saw: z.unknown().optional().describe('Absent when the path leads nowhere; long values are cut.'),
})
export type Failure = z.infer<typeof Failure>

/** What was decided about one submission, and why: kept with it. */
export const Decision = z.object({
  verified_scheme: z
    .enum(VERIFIED_SCHEMES)
    .optional()
    .describe(
      'The scheme whose signature was right: that of the endpoint, else `service_signature` of the ingest key; absent when none was asked for.',
    ),
  criteria: z.object({ matched: z.boolean(), failed: Failure.nullable() }).optional(),
  rules: z
    .array(
      z.object({
        rule_id: z.string(),
        rule: z.string(),
        matched: z.boolean(),
        failed: Failure.nullable(),
        record_id: z.string().nullable(),
      }),
    )
    .optional(),
  destinations: z.array(
    z.object({
      destination_id: z.string(),
      destination: z.string(),
      record_id: z.string(),
      matched: z.boolean(),
      reason: z.enum(['matched', 'dataset_not_subscribed', 'condition_failed', 'destination_disabled']),
      failed: Failure.nullable(),
    }),
  ),
})
export type Decision = z.infer<typeof Decision>
