import { activity } from './activity.ts'
import { datasets } from './datasets.ts'
import { ingestKeys } from './ingest-keys.ts'
import { recordViews } from './record-views.ts'
import { records } from './records.ts'
import { rejections } from './rejections.ts'
import { rules } from './rules.ts'
import { submissions } from './submissions.ts'
import { webhooks } from './webhooks.ts'

/** What comes in: endpoints, keys, rules, and what they stored or refused. */
export const capture = {
  activity,
  datasets,
  ingestKeys,
  recordViews,
  records,
  rejections,
  rules,
  submissions,
  webhooks,
} as const
