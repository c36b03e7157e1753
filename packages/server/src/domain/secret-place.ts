/**
 * Every column with sealed values. A column that is not listed here cannot be sealed, and every listed column is resealed when
 * the key changes.
 */
export const SEALED_COLUMNS = [
  'webhooks.secret',
  'webhooks.previous_secret',
  'webhooks.verify_token',
  'webhooks.url_slug',
  'webhooks.previous_url_slug',
  'ingest_keys.signing_secret',
  'ingest_keys.previous_signing_secret',
  'destinations.secret',
  'destinations.previous_secret',
  'destinations.headers',
  'destinations.auth',
  'destinations.tls',
  'destinations.proxy',
  'destinations.access_token',
  'idempotency_records.response',
  'personal_idempotency_records.response',
  'sources.secret',
  'ws_triggers.secret',
  'forwarders.headers',
  'audit_anchors.sealed',
  'mails.sealed',
  'ai_providers.api_key',
  'quarantined_requests.request',
  'deletions.snapshot',
] as const
export type SealedColumn = (typeof SEALED_COLUMNS)[number]

/** The place of a sealed value: its additional data, so that it opens only in its own row and column. */
export function secretPlace(column: SealedColumn, rowId: string): string {
  return `${column}/${rowId}`
}
