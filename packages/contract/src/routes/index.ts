import { activity } from './activity.ts'
import { apiKeys } from './api-keys.ts'
import { audit } from './audit.ts'
import { dashboard } from './dashboard.ts'
import { datasets } from './datasets.ts'
import { deliveries } from './deliveries.ts'
import { destinations } from './destinations.ts'
import { ingestKeys } from './ingest-keys.ts'
import { invites } from './invites.ts'
import { me } from './me.ts'
import { members } from './members.ts'
import { projects } from './projects.ts'
import { recordViews } from './record-views.ts'
import { records } from './records.ts'
import { rejections } from './rejections.ts'
import { rules } from './rules.ts'
import { search } from './search.ts'
import { submissions } from './submissions.ts'
import { webhooks } from './webhooks.ts'
import { workspaces } from './workspaces.ts'

/** The whole admin API as one value: rooms by name, routes by verb. */
export const routes = { activity, apiKeys, audit, dashboard, datasets, deliveries, destinations, ingestKeys, invites, me, members, projects, records, recordViews, rejections, rules, search, submissions, webhooks, workspaces } as const
export type Routes = typeof routes
