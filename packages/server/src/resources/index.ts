import { activity } from './activity/index.ts'
import { apiKeys } from './api-keys/index.ts'
import { datasets } from './datasets/index.ts'
import { deliveries } from './deliveries/index.ts'
import { destinations } from './destinations/index.ts'
import { ingestKeys } from './ingest-keys/index.ts'
import { me } from './me/index.ts'
import { projects } from './projects/index.ts'
import { recordViews } from './record-views/index.ts'
import { records } from './records/index.ts'
import { rejections } from './rejections/index.ts'
import { rules } from './rules/index.ts'
import { search } from './search/index.ts'
import { submissions } from './submissions/index.ts'
import type { Rooms } from './verbs.ts'
import { webhooks } from './webhooks/index.ts'

/** Every room by name: a contract route without a verb does not compile. */
export const rooms: Rooms = { activity, apiKeys, datasets, deliveries, destinations, ingestKeys, me, projects, records, recordViews, rejections, rules, search, submissions, webhooks }
