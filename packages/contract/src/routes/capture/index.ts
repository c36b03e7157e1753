import { activity } from './activity.ts'
import { about as aboutActivity } from './activity.about.ts'
import { datasetSchemas } from './dataset-schemas.ts'
import { about as aboutDatasetSchemas } from './dataset-schemas.about.ts'
import { datasets } from './datasets.ts'
import { about as aboutDatasets } from './datasets.about.ts'
import { ingestKeys } from './ingest-keys.ts'
import { about as aboutIngestKeys } from './ingest-keys.about.ts'
import { quarantine } from './quarantine.ts'
import { about as aboutQuarantine } from './quarantine.about.ts'
import { recordViews } from './record-views.ts'
import { about as aboutRecordViews } from './record-views.about.ts'
import { records } from './records.ts'
import { about as aboutRecords } from './records.about.ts'
import { rejections } from './rejections.ts'
import { about as aboutRejections } from './rejections.about.ts'
import { rules } from './rules.ts'
import { about as aboutRules } from './rules.about.ts'
import { sourcePresets } from './source-presets.ts'
import { about as aboutSourcePresets } from './source-presets.about.ts'
import { submissions } from './submissions.ts'
import { about as aboutSubmissions } from './submissions.about.ts'
import { webhooks } from './webhooks.ts'
import { about as aboutWebhooks } from './webhooks.about.ts'
import type { AboutRooms } from '../../about.ts'

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

export const captureAbout = {
  activity: aboutActivity,
  datasetSchemas: aboutDatasetSchemas,
  datasets: aboutDatasets,
  ingestKeys: aboutIngestKeys,
  quarantine: aboutQuarantine,
  recordViews: aboutRecordViews,
  records: aboutRecords,
  rejections: aboutRejections,
  rules: aboutRules,
  sourcePresets: aboutSourcePresets,
  submissions: aboutSubmissions,
  webhooks: aboutWebhooks,
} satisfies AboutRooms<typeof capture>
