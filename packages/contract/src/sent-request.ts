import { z } from 'zod'

/** The verb of each kind of destination. */
export const SEND_METHODS = ['POST', 'INSERT', 'XADD', 'PUBLISH', 'SEND', 'PRODUCE', 'PUT', 'MAIL'] as const
export type SendMethod = (typeof SEND_METHODS)[number]

/** The form of the body of a request, if it is neither the envelope nor a template. */
export const BodyOfRequest = {
  body_form: z
    .enum(['data', 'thin', 'as_received'])
    .nullable()
    .describe('The form of the body. null: the envelope, or the payload template.'),
  body_reason: z
    .enum(['mapped', 'no_request'])
    .nullable()
    .describe(
      'The reason why a destination with the body `as_received` gets `data`. `mapped`: a mapping made the record. `no_request`: no sender sent the event. null: it gets the body of its setting.',
    ),
}

/** The request of an attempt, as it was sent. The body is not stored: it is rendered again, and its digest proves that it is the same. */
export const SentRequest = z.object({
  method: z.enum(SEND_METHODS).describe('POST, or the verb of another kind of destination.'),
  url: z.string(),
  headers: z
    .record(z.string(), z.string())
    .describe(
      'The headers that Postroad set and those of the request that it forwarded, names in lower case. Values of custom headers and credentials are write-only and shown as dots.',
    ),
  body_sha256: z.string().describe('The SHA-256 of the body as sent, in hex.'),
  body_bytes: z.int().describe('The size of the body as sent.'),
  ...BodyOfRequest,
  batch_size: z
    .int()
    .nullable()
    .describe(
      'The number of events in the request, whose array has this body as one item. null: the request had one event.',
    ),
})
export type SentRequest = z.infer<typeof SentRequest>

/** The reasons why the body that Postroad renders now differs from the one that was sent. */
const BODY_DIFFERENCES = ['template_changed', 'template_failed', 'destination_deleted'] as const

/** The body of a sent request, rendered again from the event and the template of its destination. */
export const SentBody = z.object({
  as_sent: z
    .boolean()
    .describe(
      'true: its digest is the one of the body that was sent. false: `difference` says why it is another body.',
    ),
  text: z
    .string()
    .nullable()
    .describe(
      'The body. A secret that the template inserts is shown as dots. null: it cannot be rendered any more, or it is not text.',
    ),
  base64: z.string().nullable().describe('The body in base64, if it is not text.'),
  difference: z
    .enum(BODY_DIFFERENCES)
    .nullable()
    .describe(
      '`template_changed`: the template or the transform of the destination, the secret in it, or the address of this server has changed since; `text` is what it renders now. ' +
        '`template_failed`: the template or the transform of now makes no body of this event. `destination_deleted`: its template is gone with it. null: it is the body that was sent.',
    ),
})
export type SentBody = z.infer<typeof SentBody>
