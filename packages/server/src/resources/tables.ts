import type { About, Table } from './about.ts'
import { about as aiAgents } from './automation/ai-agents/about.ts'
import { about as aiProviders } from './automation/ai-providers/about.ts'
import { about as aiRuns } from './automation/ai-runs/about.ts'
import { about as triggers } from './automation/triggers/about.ts'
import { about as workflowInstances } from './automation/workflow-instances/about.ts'
import { about as workflows } from './automation/workflows/about.ts'
import { about as credentials } from './capture/credentials/about.ts'
import { about as datasetSchemas } from './capture/dataset-schemas/about.ts'
import { about as datasets } from './capture/datasets/about.ts'
import { about as idempotencyKeys } from './capture/idempotency-keys/about.ts'
import { about as ingestKeys } from './capture/ingest-keys/about.ts'
import { about as quarantine } from './capture/quarantine/about.ts'
import { about as recordViews } from './capture/record-views/about.ts'
import { about as records } from './capture/records/about.ts'
import { about as rejections } from './capture/rejections/about.ts'
import { about as routingPlans } from './capture/routing-plans/about.ts'
import { about as rules } from './capture/rules/about.ts'
import { about as searchIndex } from './capture/search-index/about.ts'
import { about as submissions } from './capture/submissions/about.ts'
import { about as webhooks } from './capture/webhooks/about.ts'
import { about as deliveries } from './delivery/deliveries/about.ts'
import { about as destinations } from './delivery/destinations/about.ts'
import { about as lanes } from './delivery/lanes/about.ts'
import { about as replays } from './delivery/replays/about.ts'
import { about as transforms } from './delivery/transforms/about.ts'
import { about as agentAccounts } from './people/agent-accounts/about.ts'
import { about as apiKeys } from './people/api-keys/about.ts'
import { about as connectedAgents } from './people/connected-agents/about.ts'
import { about as invites } from './people/invites/about.ts'
import { about as mails } from './people/mails/about.ts'
import { about as members } from './people/members/about.ts'
import { about as oneTimeTokens } from './people/one-time-tokens/about.ts'
import { about as sessions } from './people/sessions/about.ts'
import { about as ssoRequests } from './people/sso-requests/about.ts'
import { about as dataKeys } from './serving/data-keys/about.ts'
import { about as forwarders } from './serving/forwarders/about.ts'
import { about as portalCustomers } from './serving/portal-customers/about.ts'
import { about as portalTokens } from './serving/portal-tokens/about.ts'
import { about as portals } from './serving/portals/about.ts'
import { about as stream } from './serving/stream/about.ts'
import { about as cronTriggers } from './sources/cron-triggers/about.ts'
import { about as sources } from './sources/sources/about.ts'
import { about as wsTriggers } from './sources/ws-triggers/about.ts'
import { about as alerts } from './workspace/alerts/about.ts'
import { about as audit } from './workspace/audit/about.ts'
import { about as billing } from './workspace/billing/about.ts'
import { about as dataExport } from './workspace/data-export/about.ts'
import { about as idempotencyRecords } from './workspace/idempotency-records/about.ts'
import { about as network } from './workspace/network/about.ts'
import { about as projects } from './workspace/projects/about.ts'
import { about as rollups } from './workspace/rollups/about.ts'
import { about as snapshots } from './workspace/snapshots/about.ts'
import { about as usage } from './workspace/usage/about.ts'
import { about as workspaces } from './workspace/workspaces/about.ts'

/** Every room with tables of workspaces, or with sealed values. `npm run check` names a room that is missing. */
export const ROOMS = {
  aiAgents,
  aiProviders,
  aiRuns,
  triggers,
  workflowInstances,
  workflows,
  credentials,
  datasetSchemas,
  datasets,
  idempotencyKeys,
  ingestKeys,
  quarantine,
  recordViews,
  records,
  rejections,
  routingPlans,
  rules,
  searchIndex,
  submissions,
  webhooks,
  deliveries,
  destinations,
  lanes,
  replays,
  transforms,
  agentAccounts,
  apiKeys,
  connectedAgents,
  invites,
  mails,
  members,
  oneTimeTokens,
  sessions,
  ssoRequests,
  dataKeys,
  forwarders,
  portalCustomers,
  portalTokens,
  portals,
  stream,
  cronTriggers,
  sources,
  wsTriggers,
  alerts,
  audit,
  billing,
  dataExport,
  idempotencyRecords,
  network,
  projects,
  rollups,
  snapshots,
  usage,
  workspaces,
} as const satisfies Readonly<Record<string, About>>
type Tables<Of> = Of extends { readonly tables: infer All } ? All : never
type Sealed<All> = {
  [Name in keyof All]: All[Name] extends { readonly sealed: readonly (infer Column extends string)[] }
    ? `${Name & string}.${Column}`
    : never
}[keyof All]
type OfEach<All> = All extends unknown ? Sealed<All> : never
type Exported<Of> = Of extends { readonly exported: infer File } ? File : never
type EachTable<All> = All extends unknown ? All[keyof All] : never

/** `webhooks.secret`: every column with sealed values. */
export type SealedColumn = OfEach<Tables<(typeof ROOMS)[keyof typeof ROOMS]>>

/** Every file of an export. */
export type ExportFile = Exported<EachTable<Tables<(typeof ROOMS)[keyof typeof ROOMS]>>>

/** Every table, by name. */
export const TABLES: Readonly<Record<string, Table>> = Object.assign(
  {},
  ...Object.values(ROOMS).map(({ tables }) => tables),
)

/** The tables of a workspace that no export contains, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(TABLES).flatMap(([name, of]) => ('leftOut' in of ? [[name, of.leftOut]] : [])),
)
