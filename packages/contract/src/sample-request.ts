import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { Instant } from './list.ts'

const SampleHeaders = z
  .record(z.string(), z.string())
  .refine(
    (headers) => Object.keys(headers).length <= LIMITS.sampleHeadersMax,
    `at most ${LIMITS.sampleHeadersMax} headers`,
  )
  .describe('The headers as received. Their names may be in upper or lower case.')

/** Text and base64 are two ways to send one body. */
export const hasOneBody = (of: { body?: string | undefined; body_base64?: string | undefined }): boolean =>
  of.body === undefined || of.body_base64 === undefined

/** A request to test, as it was received. */
export const Sample = z
  .strictObject({
    headers: SampleHeaders,
    body: z.string().optional().describe('The body as received, if it is text.'),
    body_base64: z.base64().optional().describe('The body as received, in base64. Do not combine it with body.'),
    now: z
      .union([z.int().min(0), Instant])
      .optional()
      .describe('The time of the request, as RFC 3339 or Unix seconds. Absent: now.'),
  })
  .refine(hasOneBody, 'send body or body_base64, not both')
