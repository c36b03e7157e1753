import { encodeId } from '@postroad/contract'
import { attributesOf, type Piece } from '../../domain/serving/forwarding/items.ts'
import type { AuditRow, RejectionRow } from '../../resources/serving/forwarders/rows/queries.ts'

/** Rows that belong to no event: they are log records without a trace, and are always sent. */

const OF_NO_EVENT = { traceId: undefined, failed: false, spans: [] } as const

/** The rejected requests of a credential, for a reason, in a minute that has ended. */
export function pieceOfRejection(row: RejectionRow): Piece {
  return {
    ...OF_NO_EVENT,
    failed: true,
    logs: [
      {
        at: row.at.getTime(),
        severity: 'warn',
        event: 'postroad.rejection.counted',
        body: `Refused ${row.count} request${row.count === 1 ? '' : 's'}: ${row.reason}.`,
        attributes: attributesOf({
          'postroad.rejection.id': encodeId('rejection', row.id),
          'postroad.rejection.count': row.count,
          'postroad.webhook.id': row.webhook_id === null ? null : encodeId('webhook', row.webhook_id),
          'postroad.ingest_key.id': row.ingest_key_id === null ? null : encodeId('ingestKey', row.ingest_key_id),
          'error.type': row.reason,
          'http.request.method': row.method,
          'http.response.status_code': row.status,
          'http.request.header.content-type': row.content_type === null ? null : [row.content_type],
          'client.address': row.source_ip,
        }),
        traceId: undefined,
        spanId: undefined,
      },
    ],
  }
}

export function pieceOfAuditRow(row: AuditRow): Piece {
  return {
    ...OF_NO_EVENT,
    logs: [
      {
        at: row.at.getTime(),
        severity: 'info',
        event: 'postroad.audit.written',
        body: `${row.actor}: ${row.action}${row.target === null ? '' : ` ${row.target}`}`,
        attributes: attributesOf({
          'postroad.audit.id': encodeId('audit', row.id),
          'postroad.audit.action': row.action,
          'postroad.audit.target': row.target,
          'postroad.audit.details': row.details,
          'postroad.audit.agent': row.agent,
          'user.id': row.actor,
          'client.address': row.ip,
        }),
        traceId: undefined,
        spanId: undefined,
      },
    ],
  }
}
