import { encodeId } from '@postroad/contract'
import { addressOf } from '../../domain/delivery/destination-kind.ts'
import { spanIdOf, traceIdOf } from '../../domain/delivery/trace-context.ts'
import {
  attributesOf,
  type Attributes,
  type LogItem,
  type Piece,
  type SpanItem,
} from '../../domain/serving/forwarding/items.ts'
import { uuidv7Ms } from '../../platform/ids.ts'
import type { AttemptRow } from '../../resources/serving/forwarders/rows/queries.ts'

/** An ended attempt → one log record and its span; the attempt that ends its delivery also has the delivery's span. */
export function pieceOfAttempt(row: AttemptRow): Piece {
  const traceId = traceIdOf(row.submission_id ?? row.record_id ?? row.delivery_id)
  const start = row.started_at.getTime()
  const attributes = attributesOfAttempt(row)
  const error = row.outcome === 'succeeded' ? undefined : failureOf(row)
  const span: SpanItem = {
    traceId,
    spanId: spanIdOf(row.id),
    parentId: spanIdOf(row.delivery_id),
    name: 'attempt',
    kind: 'client',
    start,
    end: start + (row.duration_ms ?? 0),
    attributes,
    error,
    link: undefined,
  }
  return {
    traceId,
    failed: row.outcome !== 'succeeded',
    logs: [logOf(row, { span, attributes })],
    spans: row.ends ? [span, deliverySpan(row, { span, error })] : [span],
  }
}

const failureOf = ({ error_detail, response_status, error_code, outcome }: AttemptRow): string =>
  error_detail ?? (response_status === null ? (error_code ?? String(outcome)) : `HTTP ${response_status}.`)

/** The path and the query of a destination may be secret, so only its server is named. */
function attributesOfAttempt(row: AttemptRow): Attributes {
  return attributesOf({
    ...ofDelivery(row),
    'postroad.attempt.id': encodeId('attempt', row.id),
    'postroad.attempt.number': row.number,
    'postroad.attempt.trigger': row.trigger,
    'postroad.attempt.outcome': row.outcome,
    ...ofServer(row),
    'http.response.status_code': row.response_status,
    'error.type': row.outcome === 'succeeded' ? null : (row.error_code ?? row.outcome),
  })
}

/** A deleted destination was probably an HTTP receiver. */
function ofServer({ url, number }: AttemptRow) {
  const address = url === null || !URL.canParse(url) ? undefined : addressOf(url)
  const isHttp = address === undefined || /^https?:$/.test(address.protocol)
  return {
    'http.request.method': isHttp ? 'POST' : null,
    'http.request.resend_count': isHttp && number > 1 ? number - 1 : null,
    'server.address': address?.host,
    'server.port': address?.port ?? null,
  }
}

const ofDelivery = (row: AttemptRow) => ({
  'postroad.delivery.id': encodeId('delivery', row.delivery_id),
  'postroad.record.id': row.record_id === null ? null : encodeId('record', row.record_id),
  'postroad.submission.id': row.submission_id === null ? null : encodeId('submission', row.submission_id),
  'postroad.dataset': row.dataset,
  'postroad.destination.id': encodeId('destination', row.destination_id),
  'postroad.destination.name': row.destination_name,
})

function logOf(row: AttemptRow, { span, attributes }: { span: SpanItem; attributes: Attributes }): LogItem {
  const to = row.destination_name ?? 'a deleted destination'
  const delivered = row.outcome === 'succeeded'
  const body = delivered
    ? `Delivered to ${to} with attempt ${row.number}.`
    : `Attempt ${row.number} to ${to} failed: ${span.error}${row.next_attempt_at === null ? '' : ' Another attempt follows.'}`
  return {
    at: span.end,
    severity: delivered ? 'info' : row.next_attempt_at === null ? 'error' : 'warn',
    event: 'postroad.attempt.ended',
    body,
    attributes,
    traceId: span.traceId,
    spanId: span.spanId,
  }
}

/** From the creation of the delivery to the end of the attempt that ended it. */
function deliverySpan(row: AttemptRow, { span, error }: { span: SpanItem; error: string | undefined }): SpanItem {
  return {
    ...span,
    spanId: spanIdOf(row.delivery_id),
    parentId: row.submission_id === null ? undefined : spanIdOf(row.submission_id),
    name: 'delivery',
    kind: 'producer',
    start: Math.min(uuidv7Ms(row.delivery_id), span.start),
    attributes: attributesOf({ ...ofDelivery(row), 'postroad.delivery.attempts': row.number }),
    error,
  }
}
