import { z } from 'zod'
import { Envelope } from './envelope.ts'
import { idOutput } from './ids.ts'
import { Timestamp } from './list.ts'
import { Rejection } from './rejection.ts'
import { SenderOf } from './routes/capture/records.ts'
import { SubmissionDetail } from './routes/capture/submissions.ts'
import { DeliveryChange } from './routes/delivery/deliveries.ts'
import { DeliveryHolds } from './routes/delivery/delivery-holds.ts'

/** The request of a record, on the admin stream with `detail=request`. */
const StreamedRequest = SubmissionDetail.pick({
  method: true,
  query: true,
  headers: true,
  body: true,
  body_base64: true,
}).extend({ path: z.string().nullable().optional().describe('The path that was called, with credentials masked.') })

/** A record in a stream: the body that a destination would get. The admin stream adds the data about its sender that the console shows. */
const RecordFrame = Envelope.extend({
  webhook_id: SenderOf.webhook_id.optional(),
  origin: SenderOf.origin.optional(),
  verification: SenderOf.verification.optional(),
  header_title: SenderOf.header_title.optional(),
  submission_id: idOutput('submission').optional(),
  request: StreamedRequest.optional(),
})
export type RecordFrame = z.infer<typeof RecordFrame>

/** The records between two moments are no longer stored, and their number is unknown. */
const GapFrame = z.object({ from: Timestamp, to: Timestamp, missed: z.int().nullable() })
export type GapFrame = z.infer<typeof GapFrame>

/** The reasons why a stream ends, each with the close code of a WebSocket. */
export const CLOSE_CODES = {
  workspace_suspended: 4403,
  workspace_closed: 4403,
  stream_limit_reached: 4429,
  credential_revoked: 4401,
  slow: 1013,
  unavailable: 1013,
  shutdown: 1001,
} as const
export type CloseReason = keyof typeof CLOSE_CODES

const ClosingFrame = z.object({ reason: z.string() })

/**
 * The events of `GET /v1/stream` and `GET /admin/api/stream`, by name: SSE sends the name as `event`, a WebSocket as `type`. `delivery`,
 * `rejection` and `holds` are only on the admin stream. A rejection is sent again with its new `count`, and `holds` when the answer of
 * `GET delivery-holds` changes, each at most once a second.
 */
export const StreamFrames = {
  record: RecordFrame,
  delivery: DeliveryChange,
  rejection: Rejection,
  holds: DeliveryHolds,
  gap: GapFrame,
  closing: ClosingFrame,
} as const
export type StreamFrameType = keyof typeof StreamFrames
/** The content of each event, for clients. */
export type StreamFrameData = { readonly [Type in StreamFrameType]: z.output<(typeof StreamFrames)[Type]> }

/** The time after which a client of SSE connects again; the stream sends it as `retry`. */
export const STREAM_RETRY_MS = 3_000
