import { z } from 'zod'
import { VERIFIED_SCHEMES } from './schemes.ts'

/** The reason why a list of conditions did not match: the first condition that failed, and the value that it saw. */
export const Failure = z.object({
  index: z.int(),
  path: z.string(),
  op: z.string(),
  expected: z.unknown().optional().describe('The value of the condition. Long values are cut off.'),
  saw: z.unknown().optional().describe('Absent when nothing is at the path. Long values are cut off.'),
})
export type Failure = z.infer<typeof Failure>

/** The routing decision for one submission, with its reasons. Matches are stored with the submission; the other reasons follow from the settings of then. */
export const Decision = z.object({
  verified_scheme: z
    .enum(VERIFIED_SCHEMES)
    .optional()
    .describe(
      'The scheme of the signature that was verified: the scheme of the endpoint, or `service_signature` of the ingest key. Absent when none was required.',
    ),
  criteria: z.object({ matched: z.boolean(), failed: Failure.nullable() }).optional(),
  items: z
    .array(
      z.object({
        index: z.int().describe('The index of the item in its list, from 0.'),
        matched: z.boolean(),
        failed: Failure.nullable(),
        record_id: z.string().nullable(),
      }),
    )
    .optional()
    .describe('What the criteria decided about each item. Absent: the endpoint did not split the event.'),
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
  customer: z
    .object({
      customer_id: z.string(),
      known: z
        .boolean()
        .describe('false: no customer with this id has a destination, so the event went to no customer.'),
    })
    .optional()
    .describe('The customer that the event named. Absent: it named none.'),
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
  starts: z
    .array(
      z.object({
        kind: z.enum(['workflow', 'trigger']),
        id: z.string(),
        name: z.string(),
        record_id: z.string(),
        matched: z.boolean(),
        reason: z
          .enum(['matched', 'condition_failed', 'too_many_hops'])
          .describe(
            '`too_many_hops`: workflows and agents made more than five records in a row that led to this one, so it starts nothing.',
          ),
        failed: Failure.nullable(),
        started_id: z.string().nullable().describe('The workflow instance or the AI run that the commit started.'),
      }),
    )
    .optional()
    .describe('The workflows and AI triggers that listen to the datasets of the records. Absent when there are none.'),
})
export type Decision = z.infer<typeof Decision>
