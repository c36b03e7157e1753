import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { Timestamp } from './list.ts'
import { RejectionReason } from './rejection.ts'
import { SignatureExplanation } from './signature-explanation.ts'

/** One rejected request that an endpoint stores, so that a person can see the sender's mistake. Nobody can send it again. */
export const RefusedSample = z.object({
  reason: RejectionReason,
  at: Timestamp.describe('The time of the request.'),
  source_ip: z.string().nullable(),
  method: z.string(),
  header_names: z.array(z.string()).describe('In lower case; at most 100.'),
  signature_forms: z
    .record(z.string(), z.string())
    .describe(
      'The forms of headers that carry signatures, by name, such as `t=<10 digits>,v1=<64 hex>`; never their values.',
    ),
  headers: z
    .record(z.string(), z.string())
    .nullable()
    .describe(
      'The headers, with credentials masked. null: the sender had not proven its signature, so only the names are stored.',
    ),
  body: z
    .string()
    .nullable()
    .describe(
      `The first ${LIMITS.refusedSampleBodyBytesMax / 1_024} KiB, with values of secrets masked. null: the sender had not proven its signature, or the body was not read or is not text.`,
    ),
  body_bytes: z
    .int()
    .nullable()
    .describe('The length of the whole body; null: the body was not read, or none of it is stored.'),
  explanation: SignatureExplanation.nullable().describe(
    'How far the signature check got when the request arrived; null: another check refused the request.',
  ),
})
export type RefusedSample = z.infer<typeof RefusedSample>
