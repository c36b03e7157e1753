import { decodeId, encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { aiAgents } from '../../automation/ai-agents/index.ts'
import { aiProviders } from '../../automation/ai-providers/index.ts'
import { aiRuns } from '../../automation/ai-runs/index.ts'
import { triggers } from '../../automation/triggers/index.ts'
import { apiKeys } from '../../people/api-keys/index.ts'
import { alerts } from '../alerts/index.ts'
import { auditLog } from '../audit/index.ts'
import { workflows } from '../../automation/workflows/index.ts'
import { datasets } from '../../capture/datasets/index.ts'
import { presentDelivery, presentWholeAttempt } from '../../delivery/deliveries/index.ts'
import { destinations } from '../../delivery/destinations/index.ts'
import { ingestKeys } from '../../capture/ingest-keys/index.ts'
import { invites } from '../../people/invites/index.ts'
import { members } from '../../people/members/index.ts'
import { projects } from '../projects/index.ts'
import { forwarders } from '../../serving/forwarders/index.ts'
import { wsTriggers } from '../../sources/ws-triggers/index.ts'
import { sources } from '../../sources/sources/index.ts'
import { dataKeys } from '../../serving/data-keys/index.ts'
import { cronTriggers } from '../../sources/cron-triggers/index.ts'
import { recordViews } from '../../capture/record-views/index.ts'
import { rejections } from '../../capture/rejections/index.ts'
import { transforms } from '../../delivery/transforms/index.ts'
import { replays } from '../../delivery/replays/index.ts'
import { rules } from '../../capture/rules/index.ts'
import { listPlanRowsAfter } from '../../capture/routing-plans/index.ts'
import { presentSubmission, storedDecision } from '../../capture/submissions/index.ts'
import { ssoRequests } from '../../people/sso-requests/index.ts'
import { webhooks } from '../../capture/webhooks/index.ts'
import { workspaces } from '../workspaces/index.ts'
import {
  inProjects,
  inside,
  listed,
  NO_ID,
  ofProjects,
  ofWorkspace,
  only,
  paged,
  type FileLines,
  type Lines,
  type Scope,
} from './lines.ts'
import { instanceLines, workflowVersionLines } from './workflow-lines.ts'
import type { ExportFile } from '../../tables.ts'
import { transformVersionLines } from './transform-lines.ts'
import { PORTAL_LINES } from './portal-lines.ts'
import { readAttempts, readDeliveries, readRecords, readSubmissions, readUsage, readVersions } from './read/queries.ts'

/**
 * The files of an export, in order: a row comes before the rows that refer to it. Rows have the form of the API, with their project. They
 * leave credentials and secrets out: the URL of an endpoint, secrets, keys, and values of headers.
 */
export const FILES: Readonly<Record<ExportFile, FileLines>> = {
  workspace: ({ ctx }) => only(async () => (await workspaces.get(ctx, {})).workspace),
  projects: ofWorkspace(projects, 'projects'),
  members: ofWorkspace(members, 'members'),
  invites: ofWorkspace(invites, 'invites'),
  api_keys: ofWorkspace(apiKeys, 'api_keys'),
  sso_requests: ofWorkspace(ssoRequests, 'requests'),
  datasets: ofProjects(datasets, 'datasets'),
  webhooks: inProjects((ctx) =>
    listed(
      (page) => webhooks.list(ctx, page),
      (answer) => answer.webhooks.map(withoutUrl).map(inside(ctx)),
    ),
  ),
  webhook_versions: inProjects(versionLines),
  record_views: inProjects(viewLines),
  rules: ofProjects(rules, 'rules'),
  transforms: ofProjects(transforms, 'transforms'),
  transform_versions: inProjects(transformVersionLines),
  ...PORTAL_LINES,
  destinations: inProjects((ctx) =>
    listed(
      (page) => destinations.list(ctx, page),
      (answer) => answer.destinations.map(withoutHeaderValues).map(inside(ctx)),
    ),
  ),
  workflows: ofProjects(workflows, 'workflows'),
  workflow_versions: inProjects(workflowVersionLines),
  workflow_instances: inProjects(instanceLines),
  ingest_keys: ofProjects(ingestKeys, 'ingest_keys'),
  data_keys: ofProjects(dataKeys, 'data_keys'),
  routing_plans: inProjects(planLines),
  submissions: inProjects(submissionLines),
  records: inProjects(recordLines),
  deliveries: inProjects(deliveryLines),
  ai_providers: ofProjects(aiProviders, 'ai_providers'),
  ai_agents: ofProjects(aiAgents, 'ai_agents'),
  triggers: ofProjects(triggers, 'triggers'),
  ai_runs: inProjects((ctx) =>
    listed(
      (page) => aiRuns.search(ctx, { ...page, f: [] }),
      (answer) => answer.ai_runs.map(inside(ctx)),
    ),
  ),
  replays: ofProjects(replays, 'replays'),
  cron_triggers: ofProjects(cronTriggers, 'cron_triggers'),
  sources: ofProjects(sources, 'sources'),
  ws_triggers: ofProjects(wsTriggers, 'ws_triggers'),
  forwarders: ofProjects(forwarders, 'forwarders'),
  alerts: ofProjects(alerts, 'alerts'),
  alert_settings: inProjects((ctx) => only(async () => inside(ctx)(await alerts.settings(ctx, {})))),
  rejections: inProjects((ctx, { before }) =>
    listed(
      (page) => rejections.list(ctx, { ...page, to: before }),
      (answer) => answer.rejections.map(inside(ctx)),
    ),
  ),
  monthly_usage: usageLines,
  audit: ({ ctx, before }) =>
    listed(
      (page) => auditLog.list(ctx, { ...page, to: before }),
      (answer) => answer.audit,
    ),
}

/** The URL of an endpoint is its credential. */
function withoutUrl<
  Row extends { webhook_slug: string; public_path: string; public_url: string; previous_public_url: string | null },
>(row: Row) {
  const { webhook_slug: _slug, public_path: _path, public_url: _url, previous_public_url: _previous, ...rest } = row
  return rest
}

/** The value of a header may be a password. */
function withoutHeaderValues<Row extends { headers: Readonly<Record<string, unknown>> }>({ headers, ...rest }: Row) {
  return { ...rest, header_names: Object.keys(headers) }
}

async function* viewLines(ctx: Ctx): Lines {
  for (let cursor: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the cursor of the previous one
    const page = await webhooks.list(ctx, { limit: LIMITS.listLimitMax, cursor })
    for (const id of page.webhooks.flatMap((webhook) => decodeId('webhook', webhook.id) ?? []))
      yield* listed(
        (views) => recordViews.list(ctx, { ...views, id }),
        (answer) => answer.views.map(inside(ctx)),
      )
    if (page.next_cursor === null) return
    cursor = page.next_cursor
  }
}

/** Each row has a share of about 64 settings. */
const PLAN_ROWS_MAX = 100

/** Previous settings: for each endpoint the oldest version first. */
async function* versionLines(ctx: Ctx): Lines {
  for (let after = { webhookId: NO_ID, version: 0 }; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the last key of the previous one
    const rows = await readVersions(ctx.db, { ...ctx, after })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(({ webhook_id, created_at, config, ...row }) => {
      const shown = inside(ctx)({
        webhook_id: encodeId('webhook', webhook_id),
        ...row,
        created_at: created_at.toISOString(),
      })
      return withText(shown, { name: 'config', json: config })
    })
    after = { webhookId: last.webhook_id, version: last.version }
  }
}

async function* usageLines({ ctx }: Scope): Lines {
  yield (await readUsage(ctx.db, ctx)).map((row) => JSON.stringify(row))
}

/** A row with one further member, byte for byte except for line ends, which JSON text has only between its tokens. */
const withText = (row: object, { name, json }: { name: string; json: string }): string =>
  `${JSON.stringify(row).slice(0, -1)},"${name}":${json.replaceAll(/[\r\n]+/g, ' ')}}`

/** The settings of decisions: plans, and the parts that they name. */
async function* planLines(ctx: Ctx): Lines {
  for (let after = NO_ID; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the last key of the previous one
    const rows = await listPlanRowsAfter(ctx.db, { ...ctx, after, limit: PLAN_ROWS_MAX })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(({ id, content }) => withText(inside(ctx)({ id }), { name: 'content', json: content }))
    after = last.id
  }
}

async function* submissionLines(ctx: Ctx, { before }: Scope): Lines {
  for await (const rows of paged((at) => readSubmissions(ctx.db, at), { ctx, before }))
    yield rows.map((row) => JSON.stringify(inside(ctx)(presentSubmission(row, storedDecision(row.decision)))))
}

async function* recordLines(ctx: Ctx, { before }: Scope): Lines {
  for await (const rows of paged((at) => readRecords(ctx.db, at), { ctx, before })) {
    yield rows.map(({ id, submission_id, dataset, received_at, data }) => {
      const row = {
        id: encodeId('record', id),
        dataset,
        submission_id: encodeId('submission', submission_id),
        received_at: received_at.toISOString(),
        project_id: encodeId('project', ctx.projectId),
      }
      return withText(row, { name: 'data', json: data })
    })
  }
}

async function* deliveryLines(ctx: Ctx, { before }: Scope): Lines {
  for await (const rows of paged((at) => readDeliveries(ctx.db, at), { ctx, before })) {
    const attempts = Map.groupBy(
      await readAttempts(ctx.db, { ...ctx, deliveryIds: rows.map(({ id }) => id) }),
      ({ delivery_id }) => delivery_id,
    )
    yield rows.map((row) => {
      const tries = (attempts.get(row.id) ?? []).map((attempt) => presentWholeAttempt(attempt, row))
      return JSON.stringify({ ...inside(ctx)(presentDelivery(row)), attempts: tries })
    })
  }
}
