import { decodeId, encodeId, LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { aiAgents } from '../../automation/ai-agents/index.ts'
import { aiProviders } from '../../automation/ai-providers/index.ts'
import { aiRuns } from '../../automation/ai-runs/index.ts'
import { triggers } from '../../automation/triggers/index.ts'
import { apiKeys } from '../../people/api-keys/index.ts'
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
import { replays } from '../../delivery/replays/index.ts'
import { rules } from '../../capture/rules/index.ts'
import { listPlanRowsAfter } from '../../capture/routing-plans/index.ts'
import { presentSubmission, storedDecision } from '../../capture/submissions/index.ts'
import { ssoRequests } from '../../people/sso-requests/index.ts'
import { webhooks } from '../../capture/webhooks/index.ts'
import { workspaces } from '../workspaces/index.ts'
import { inProjects, inside, listed, NO_ID, only, paged, type Lines, type Scope, type Source } from './lines.ts'
import { instanceLines, workflowVersionLines } from './workflow-lines.ts'
import { PORTAL_SOURCES } from './portal-lines.ts'
import { readAttempts, readDeliveries, readRecords, readSubmissions, readUsage, readVersions } from './read/queries.ts'

/**
 * The files of an export, in order: a row comes before the rows that refer to it. Rows have the form of the API, with their project. They
 * leave credentials and secrets out: the URL of an endpoint, secrets, keys, and values of headers.
 */
export const SOURCES: readonly Source[] = [
  {
    name: 'workspace',
    tables: ['workspaces'],
    lines: ({ ctx }) => only(async () => (await workspaces.get(ctx, {})).workspace),
  },
  {
    name: 'projects',
    tables: ['projects'],
    lines: ({ ctx }) =>
      listed(
        (page) => projects.list(ctx, page),
        (answer) => answer.projects,
      ),
  },
  {
    name: 'members',
    tables: ['members'],
    lines: ({ ctx }) =>
      listed(
        (page) => members.list(ctx, page),
        (answer) => answer.members,
      ),
  },
  {
    name: 'invites',
    tables: ['invites'],
    lines: ({ ctx }) =>
      listed(
        (page) => invites.list(ctx, page),
        (answer) => answer.invites,
      ),
  },
  {
    name: 'api_keys',
    tables: ['api_keys'],
    lines: ({ ctx }) =>
      listed(
        (page) => apiKeys.list(ctx, page),
        (answer) => answer.api_keys,
      ),
  },
  {
    name: 'sso_requests',
    tables: ['sso_requests'],
    lines: ({ ctx }) =>
      listed(
        (page) => ssoRequests.list(ctx, page),
        (answer) => answer.requests,
      ),
  },
  {
    name: 'datasets',
    tables: ['datasets'],
    lines: inProjects((ctx) =>
      listed(
        (page) => datasets.list(ctx, page),
        (answer) => answer.datasets.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'webhooks',
    tables: ['webhooks'],
    lines: inProjects((ctx) =>
      listed(
        (page) => webhooks.list(ctx, page),
        (answer) => answer.webhooks.map(withoutUrl).map(inside(ctx)),
      ),
    ),
  },
  { name: 'webhook_versions', tables: ['webhook_versions'], lines: inProjects(versionLines) },
  { name: 'record_views', tables: ['record_views'], lines: inProjects(viewLines) },
  {
    name: 'rules',
    tables: ['rules'],
    lines: inProjects((ctx) =>
      listed(
        (page) => rules.list(ctx, page),
        (answer) => answer.rules.map(inside(ctx)),
      ),
    ),
  },
  ...PORTAL_SOURCES,
  {
    name: 'destinations',
    tables: ['destinations'],
    lines: inProjects((ctx) =>
      listed(
        (page) => destinations.list(ctx, page),
        (answer) => answer.destinations.map(withoutHeaderValues).map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'workflows',
    tables: ['workflows'],
    lines: inProjects((ctx) =>
      listed(
        (page) => workflows.list(ctx, page),
        (answer) => answer.workflows.map(inside(ctx)),
      ),
    ),
  },
  { name: 'workflow_versions', tables: ['workflow_versions'], lines: inProjects(workflowVersionLines) },
  {
    name: 'workflow_instances',
    tables: ['workflow_instances', 'workflow_step_runs'],
    lines: inProjects(instanceLines),
  },
  {
    name: 'ingest_keys',
    tables: ['ingest_keys'],
    lines: inProjects((ctx) =>
      listed(
        (page) => ingestKeys.list(ctx, page),
        (answer) => answer.ingest_keys.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'data_keys',
    tables: ['data_keys'],
    lines: inProjects((ctx) =>
      listed(
        (page) => dataKeys.list(ctx, page),
        (answer) => answer.data_keys.map(inside(ctx)),
      ),
    ),
  },
  { name: 'routing_plans', tables: ['routing_plans'], lines: inProjects(planLines) },
  { name: 'submissions', tables: ['submissions'], lines: inProjects(submissionLines) },
  { name: 'records', tables: ['records'], lines: inProjects(recordLines) },
  { name: 'deliveries', tables: ['deliveries', 'delivery_attempts'], lines: inProjects(deliveryLines) },
  {
    name: 'ai_providers',
    tables: ['ai_providers'],
    lines: inProjects((ctx) =>
      listed(
        (page) => aiProviders.list(ctx, page),
        (answer) => answer.ai_providers.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'ai_agents',
    tables: ['ai_agents'],
    lines: inProjects((ctx) =>
      listed(
        (page) => aiAgents.list(ctx, page),
        (answer) => answer.ai_agents.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'triggers',
    tables: ['ai_triggers'],
    lines: inProjects((ctx) =>
      listed(
        (page) => triggers.list(ctx, page),
        (answer) => answer.triggers.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'ai_runs',
    tables: ['ai_runs'],
    lines: inProjects((ctx) =>
      listed(
        (page) => aiRuns.search(ctx, { ...page, f: [] }),
        (answer) => answer.ai_runs.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'replays',
    tables: ['replays'],
    lines: inProjects((ctx) =>
      listed(
        (page) => replays.list(ctx, page),
        (answer) => answer.replays.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'cron_triggers',
    tables: ['cron_triggers'],
    lines: inProjects((ctx) =>
      listed(
        (page) => cronTriggers.list(ctx, page),
        (answer) => answer.cron_triggers.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'sources',
    tables: ['sources'],
    lines: inProjects((ctx) =>
      listed(
        (page) => sources.list(ctx, page),
        (answer) => answer.sources.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'ws_triggers',
    tables: ['ws_triggers'],
    lines: inProjects((ctx) =>
      listed(
        (page) => wsTriggers.list(ctx, page),
        (answer) => answer.ws_triggers.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'forwarders',
    tables: ['forwarders'],
    lines: inProjects((ctx) =>
      listed(
        (page) => forwarders.list(ctx, page),
        (answer) => answer.forwarders.map(inside(ctx)),
      ),
    ),
  },
  {
    name: 'rejections',
    tables: ['rejections'],
    lines: inProjects((ctx, { before }) =>
      listed(
        (page) => rejections.list(ctx, { ...page, to: before }),
        (answer) => answer.rejections.map(inside(ctx)),
      ),
    ),
  },
  { name: 'monthly_usage', tables: ['monthly_usage'], lines: usageLines },
  {
    name: 'audit',
    tables: ['audit_rows'],
    lines: ({ ctx, before }) =>
      listed(
        (page) => auditLog.list(ctx, { ...page, to: before }),
        (answer) => answer.audit,
      ),
  },
]

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
