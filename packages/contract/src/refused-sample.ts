import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { Timestamp } from './list.ts'
import { RejectionReason } from './rejection.ts'
import { SignatureExplanation } from './signature-explanation.ts'

/** What an endpoint stores of one refused request, so that a person sees what a sender does wrong. Nothing of it can be sent again. */
export const RefusedSample = z.object({
  reason: RejectionReason,
  at: Timestamp.describe('When the request came.'),
  source_ip: z.string().nullable(),
  method: z.string(),
  header_names: z.array(z.string()).describe('In lower case; at most 100.'),
  signature_forms: z
    .record(z.string(), z.string())
    .describe(
      'How headers that carry signatures were formed, by name, such as `t=<10 digits>,v1=<64 hex>`; never their values.',
    ),
  headers: z
    .record(z.string(), z.string())
    .nullable()
    .describe('With credentials masked. null: the sender had not proven its signature, so only names are stored.'),
  body: z
    .string()
    .nullable()
    .describe(
      `Its first ${LIMITS.refusedSampleBodyBytesMax / 1_024} KiB, with values of secrets masked. null: the sender had not proven its signature, or the body was not read or is not text.`,
    ),
  body_bytes: z
    .int()
    .nullable()
    .describe('How long the whole body was; null: it was not read, or nothing of it is stored.'),
  explanation: SignatureExplanation.nullable().describe(
    'How far the signature got when the request came; null: something else refused the request.',
  ),
})
export type RefusedSample = z.infer<typeof RefusedSample>
