import { z } from 'zod'
import { VERIFICATION_SCHEMES } from './schemes.ts'

const STEPS = ['secret', 'header', 'format', 'timestamp', 'digest', 'tolerance'] as const

/** The result of an endpoint's signature check of a request, step by step. It contains no secret and no expected digest. */
export const SignatureExplanation = z.object({
  scheme: z.enum(VERIFICATION_SCHEMES),
  has_secret: z.boolean(),
  ok: z.boolean().describe('true: the request would pass.'),
  reason: z
    .enum(['missing_header', 'bad_signature', 'stale_timestamp'])
    .nullable()
    .describe('The reason of the 401 response; null: the request would pass.'),
  failed_step: z.enum(STEPS).nullable(),
  matched_secret: z.enum(['current', 'previous']).nullable(),
  age_seconds: z.int().nullable().describe('The age of the timestamp; negative: it is in the future.'),
  steps: z
    .array(
      z.object({
        step: z.enum(STEPS),
        ok: z.boolean().nullable().describe('null: not checked, because an earlier step failed.'),
        text: z.string(),
      }),
    )
    .describe(
      'The steps in the order of the check. A scheme without a timestamp has neither `timestamp` nor `tolerance`.',
    ),
  hints: z.array(z.string()).describe('Possible causes of the failure.'),
})
