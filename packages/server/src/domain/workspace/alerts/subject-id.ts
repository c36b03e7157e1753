import { encodeId, type AlertSubject, type IdKind } from '@postroad/contract'

const ID_KINDS: Readonly<Record<AlertSubject, IdKind>> = {
  destination: 'destination',
  webhook: 'webhook',
  ingest_key: 'ingestKey',
  source: 'source',
  cron_trigger: 'cronTrigger',
  ws_trigger: 'wsTrigger',
  workflow: 'workflow',
  api_key: 'apiKey',
  data_key: 'dataKey',
  events_quota: 'workspace',
  deliveries_quota: 'workspace',
}

/** The id in the API of the part that an alert is about. */
export const subjectId = (kind: AlertSubject, id: string): string => encodeId(ID_KINDS[kind], id)
