import { ROOMS } from '@postroad/contract/openapi'
import type { Json } from './schemas.ts'

/** The operations that no room of the admin API has. */
const OUTSIDE = {
  ingest: 'Send events to Postroad: through the URL of an endpoint, or with an ingest key.',
  receive: 'The request that Postroad sends to your destination.',
  portal: 'The portal API: one customer, their destinations and the deliveries to them.',
  data: 'Stored records for the programs of a project, on /v1/data.',
  stream: 'Live streams of records, deliveries and rejected requests.',
  agents: 'Agents that register their own accounts.',
  signIn: 'Sessions and accounts of people. These routes take a session cookie or no credential, never an API key.',
}

/** The order of the tags in the document. Rooms that are not in it come after them. */
const ORDER = `
  ingest receive webhooks rules datasets datasetSchemas datasetExports portals portalCustomers
  portalTokens portal dataKeys ingestKeys aiProviders aiAgents triggers aiRuns submissions records
  recordViews activity quarantine rejections destinations destinationPresets sourcePresets
  destinationSinks destinationPreviews deliveries attempts deliveryHolds replays transforms sources wsTriggers
  cronTriggers forwarders search workflows workflowInstances data stream dashboard alerts projects config
  workspaces members invites apiKeys connectedAgents agentAccounts agents deletions audit broadcasts
  billing network sso ssoRequests platformWorkspaces platformSettings platformBroadcasts
  platformSsoRequests platformHealth platformAudit dataExport me signIn
`

const texts: Readonly<Record<string, string>> = {
  ...OUTSIDE,
  ...Object.fromEntries(Object.entries(ROOMS).map(([room, { text }]) => [room, text])),
}

export const TAGS: readonly Json[] = [...new Set([...ORDER.trim().split(/\s+/), ...Object.keys(texts)])].map(
  (name) => ({
    name,
    description: texts[name],
  }),
)
