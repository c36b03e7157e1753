/**
 * Every column that holds sealed values. What is not listed here cannot be sealed, and what is sealed here is found when
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
  'audit_anchors.sealed',
  'mails.sealed',
] as const
export type SealedColumn = (typeof SEALED_COLUMNS)[number]

/** Where a sealed value lives: its additional data, so that it opens in its own row and column only. */
export function secretPlace(column: SealedColumn, rowId: string): string {
  return `${column}/${rowId}`
}
