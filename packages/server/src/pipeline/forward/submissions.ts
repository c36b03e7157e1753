import { encodeId, stateOfPassed } from '@postroad/contract'
import { readTraceparent, spanIdNamed, spanIdOf, traceIdOf } from '../../domain/delivery/trace-context.ts'
import { attributesOf, type Piece, type SpanItem } from '../../domain/serving/forwarding/items.ts'
import { bodyText, headerAttributes, queryText, type Redaction } from '../../domain/serving/forwarding/redact.ts'
import { uuidv7Ms } from '../../platform/ids.ts'
import type { SubmissionRow } from '../../resources/serving/forwarders/rows/queries.ts'

const idOrNull = (kind: 'webhook' | 'ingestKey', id: string | null): string | null =>
  id === null ? null : encodeId(kind, id)

/** An accepted request → one log record, and the first spans of its trace. */
export function pieceOfSubmission(row: SubmissionRow, redaction: Redaction): Piece {
  const traceId = traceIdOf(row.id)
  const attributes = attributesOf({
    'postroad.submission.id': encodeId('submission', row.id),
    'postroad.webhook.id': idOrNull('webhook', row.webhook_id),
    'postroad.ingest_key.id': idOrNull('ingestKey', row.ingest_key_id),
    'postroad.origin': row.origin_kind,
    'postroad.verification': stateOfPassed(row.verified_scheme ?? undefined),
    'postroad.record.ids': row.record_ids.map((id) => encodeId('record', id)),
    'http.request.method': row.origin_kind === null ? 'POST' : null,
    'http.response.status_code': row.origin_kind === null ? row.status : null,
    'http.request.body.size': row.body_size,
    'http.request.header.content-type': row.content_type === null ? null : [row.content_type],
    'client.address': row.source_ip,
  })
  const count = row.record_ids.length
  return {
    traceId,
    failed: false,
    logs: [
      {
        at: row.received_at.getTime(),
        severity: 'info',
        event: 'postroad.submission.accepted',
        body: `Accepted a request and filed ${count} record${count === 1 ? '' : 's'}.`,
        attributes: { ...attributes, ...payloadOf(row, redaction) },
        traceId,
        spanId: spanIdOf(row.id),
      },
    ],
    spans: spansOf(row, { traceId, attributes }),
  }
}

/** Without `headers` the forwarder sends no payloads. */
function payloadOf({ query, headers, body }: SubmissionRow, redaction: Redaction) {
  if (headers === null) return {}
  const text = body === null ? undefined : bodyText(body, redaction)
  return {
    ...headerAttributes(headers, redaction),
    ...(query === null ? {} : { 'url.query': queryText(query, redaction) }),
    ...(text === undefined ? { 'postroad.body.omitted': true } : { 'postroad.body': text }),
  }
}

/** The stored times: the head arrived, the request was accepted (the id was made), and its last record was made. */
function spansOf(row: SubmissionRow, given: Pick<SpanItem, 'traceId' | 'attributes'>): readonly SpanItem[] {
  const received = row.received_at.getTime()
  const accepted = Math.max(received, uuidv7Ms(row.id))
  const filed = Math.max(accepted, ...row.record_ids.map(uuidv7Ms))
  const spanId = spanIdOf(row.id)
  const inner = {
    traceId: given.traceId,
    parentId: spanId,
    kind: 'internal',
    error: undefined,
    link: undefined,
  } as const
  const named = { 'postroad.submission.id': encodeId('submission', row.id) }
  return [
    {
      ...given,
      spanId,
      parentId: undefined,
      name: 'event',
      kind: row.origin_kind === null ? 'server' : 'internal',
      start: received,
      end: filed,
      error: undefined,
      link: readTraceparent(row.traceparent),
    },
    {
      ...inner,
      spanId: spanIdNamed(`${row.id} capture`),
      name: 'capture',
      start: received,
      end: accepted,
      attributes: named,
    },
    { ...inner, spanId: spanIdNamed(`${row.id} route`), name: 'route', start: accepted, end: filed, attributes: named },
  ]
}
