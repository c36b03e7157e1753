import { activity } from './activity/index.ts'
import { datasetSchemas } from './dataset-schemas/index.ts'
import { datasets } from './datasets/index.ts'
import { ingestKeys } from './ingest-keys/index.ts'
import { quarantine } from './quarantine/index.ts'
import { recordViews } from './record-views/index.ts'
import { records } from './records/index.ts'
import { rejections } from './rejections/index.ts'
import { rules } from './rules/index.ts'
import { sourcePresets } from './source-presets/index.ts'
import { submissions } from './submissions/index.ts'
import { webhooks } from './webhooks/index.ts'
import type { RoomsOf } from '../verbs.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const capture: RoomsOf<'capture'> = {
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
}
