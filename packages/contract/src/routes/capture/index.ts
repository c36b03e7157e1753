import { activity } from './activity.ts'
import { datasetSchemas } from './dataset-schemas.ts'
import { datasets } from './datasets.ts'
import { ingestKeys } from './ingest-keys.ts'
import { quarantine } from './quarantine.ts'
import { recordViews } from './record-views.ts'
import { records } from './records.ts'
import { rejections } from './rejections.ts'
import { rules } from './rules.ts'
import { sourcePresets } from './source-presets.ts'
import { submissions } from './submissions.ts'
import { webhooks } from './webhooks.ts'

/** Incoming events: endpoints, keys, rules, and the stored or rejected requests. */
export const capture = {
  activity,
  datasetSchemas,
  datasets,
  ingestKeys,
  quarantine,
  recordViews,
  records,
  rejections,
  rules,
  sourcePresets,
  submissions,
  webhooks,
} as const
