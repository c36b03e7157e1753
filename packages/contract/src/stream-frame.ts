import { z } from 'zod'
import { Envelope } from './envelope.ts'
import { Timestamp } from './list.ts'
import { Rejection } from './rejection.ts'
import { SenderOf } from './routes/capture/records.ts'
import { Delivery } from './routes/delivery/deliveries.ts'

/** A record as a stream shows it: the body that a destination would get. The admin stream adds what the console shows of its sender. */
const RecordFrame = Envelope.extend({
  webhook_id: SenderOf.webhook_id.optional(),
  header_title: SenderOf.header_title.optional(),
})

/** Records between two moments are no longer kept; how many there were is not known any more. */
const GapFrame = z.object({ from: Timestamp, to: Timestamp, missed: z.int().nullable() })
export type GapFrame = z.infer<typeof GapFrame>

/** Why a stream ends, and the close code of a WebSocket that ends so. */
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
 * The events of `GET /v1/stream` and `GET /admin/api/stream`, by name: SSE says the name as `event`, a WebSocket as `type`.
 * `delivery` and `rejection` are on the admin stream only; a rejection comes again, with its new `count`, at most once a second.
 */
export const StreamFrames = {
  record: RecordFrame,
  delivery: Delivery,
  rejection: Rejection,
  gap: GapFrame,
  closing: ClosingFrame,
} as const
export type StreamFrameType = keyof typeof StreamFrames

/** Whoever stays silent loses the connection somewhere on the way. */
export const STREAM_RETRY_MS = 3_000
