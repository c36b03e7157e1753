import { z } from 'zod'
import { VERIFICATION_SCHEMES } from './verification.ts'

const STEPS = ['secret', 'header', 'format', 'timestamp', 'digest', 'tolerance'] as const

/** What an endpoint's verification would say to a request, step by step. Holds no secret and no expected digest. */
export const SignatureExplanation = z.object({
  scheme: z.enum(VERIFICATION_SCHEMES),
  has_secret: z.boolean(),
  ok: z.boolean().describe('The request would pass.'),
  reason: z
    .enum(['missing_header', 'bad_signature', 'stale_timestamp'])
    .nullable()
    .describe('The reason of the 401 that it would get.'),
  failed_step: z.enum(STEPS).nullable(),
  matched_secret: z.enum(['current', 'previous']).nullable(),
  age_seconds: z.int().nullable().describe('How old the timestamp is; negative: it is ahead.'),
  steps: z
    .array(
      z.object({
        step: z.enum(STEPS),
        ok: z.boolean().nullable().describe('null: not looked at, because of a step before.'),
        text: z.string(),
      }),
    )
    .describe(
      'In the order in which they are looked at; a scheme without a timestamp has neither `timestamp` nor `tolerance`.',
    ),
  hints: z.array(z.string()).describe('What a person might look at.'),
})
