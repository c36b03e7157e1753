/** The kinds of nodes on the map of a project, from left to right. */
export const MAP_KINDS = [
  'webhook',
  'ingest_key',
  'source',
  'cron_trigger',
  'ws_trigger',
  'rule',
  'dataset',
  'workflow',
  'ai_trigger',
  'destination',
] as const
export type MapKind = (typeof MAP_KINDS)[number]
