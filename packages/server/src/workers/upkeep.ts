import { deleteEndedRuns } from '../resources/automation/ai-runs/ended/queries.ts'
import { deleteEndedInstances } from '../resources/automation/workflow-instances/queries.ts'
import { deleteUnusedVersions } from '../resources/automation/workflows/queries.ts'
import { LIMITS } from '@postroad/contract'
import type { Deps } from '../context.ts'
import { limitsOf } from '../domain/workspace/plan.ts'
import { dropDays, makeDays } from '../platform/partitions.ts'
import { deleteEndedUrls } from '../resources/capture/credentials/queries.ts'
import { deleteOldCounts, deleteOldRegistrations } from '../resources/people/agent-accounts/queries.ts'
import { deleteRevokedAgents } from '../resources/people/connected-agents/queries.ts'
import { deleteExpiredEntries, deleteUnusedClients } from '../resources/people/oauth-entries/queries.ts'
import { deleteEndedInvites } from '../resources/people/invites/queries.ts'
import { countForgottenOutcomes } from '../resources/delivery/deliveries/index.ts'
import { deleteEndedOrphans } from '../resources/delivery/lanes/queries.ts'
import { deleteOldMails, emptyOutbox } from '../resources/people/mails/queries.ts'
import { pruneKeys } from '../resources/capture/idempotency-keys/queries.ts'
import { pruneRecords } from '../resources/workspace/idempotency-records/queries.ts'
import { deleteTokensOver } from '../resources/people/one-time-tokens/queries.ts'
import { deleteEndedReplays } from '../resources/delivery/replays/queries.ts'
import { PLAN_GRACE_MS } from '../resources/capture/routing-plans/index.ts'
import { deleteUnusedPlanRows } from '../resources/capture/routing-plans/queries.ts'
import { deleteOldRejections, plansInUse } from '../resources/capture/rejections/queries.ts'
import { deleteOldSamples } from '../resources/capture/webhooks/refused-samples/queries.ts'
import { countExpired } from '../resources/serving/forwarders/expired/index.ts'
import { deleteOldAlerts } from '../resources/workspace/alerts/causes/queries.ts'
import { deleteOldDescendants } from '../resources/workspace/usage/queries.ts'
import { deleteOldRollups } from '../resources/workspace/rollups/queries.ts'
import { deleteSessionsOver } from '../resources/people/sessions/queries.ts'
import { deleteFullBuckets } from '../resources/people/throttles/queries.ts'
import { separately } from '../platform/separately.ts'
import { expireShorterPlans } from './retention.ts'
import { runTasks, type Task } from './tasks.ts'

/** Tables that are partitioned by day and dropped by day. */
export const DAY_TABLES = [
  { name: 'submissions' },
  { name: 'records' },
  { name: 'deliveries', storage: 'with (fillfactor = 85)' },
  // An attempt grows from 180 to about 700 bytes when it ends. With room in its page, the indexes get no new entries.
  { name: 'delivery_attempts', storage: 'with (fillfactor = 20)' },
  { name: 'search_blocks' },
] as const

const HOUR_MS = 3_600_000
const DAYS_AHEAD = 3
const PRUNED_AT_ONCE_MAX = 10_000
const DAY_MS = 86_400_000
const MAILS_KEPT_DAYS = 7
const SESSIONS_KEPT_DAYS = 30
const INVITES_KEPT_DAYS = 30
/** Longer than the range in which minutes are read (resources/workspace/rollups/read/range.ts). */
const MINUTES_KEPT_DAYS = 8
const HOURS_KEPT_DAYS = 400

/**
 * Creates the tables of coming days, and removes everything that is no longer retained. A task that fails stops none of the
 * others.
 */
export function runUpkeep(deps: Deps): Promise<void> {
  return runTasks(deps, [...tasksOfDays(deps), ...tasksOfPlans(deps), ...tasksOfAges(deps)])
}

type Prune = (of: { readonly before: Date; readonly limit: number }) => Promise<number>

/** The tables of days. Their order matters: forwarders count the rows that they lose while these still exist. */
function tasksOfDays(deps: Deps): readonly Task[] {
  const { database, clock } = deps
  const now = clock.now()
  return [
    {
      name: 'days.make',
      run: async () => (await makeDays(database, DAY_TABLES, { now, daysAhead: DAYS_AHEAD })).length,
    },
    {
      name: 'forwarders.count_lost',
      run: () => planByPlan(deps, (plan, before) => countExpired(deps, { plan, before })),
    },
    {
      name: 'days.drop',
      run: async () => (await dropDays(database, DAY_TABLES, { now, keepDays: await longestRetention(deps) })).length,
    },
    { name: 'events.expire', run: async () => expireShorterPlans(deps, await longestRetention(deps)) },
  ]
}

/** Rows that are retained as long as the plan of their workspace retains events. */
function tasksOfPlans(deps: Deps): readonly Task[] {
  const { database } = deps
  const ofPlans = (name: string, prune: (plan: string) => Prune): Task => ({
    name,
    run: () => planByPlan(deps, (plan, before) => pruned((limit) => prune(plan)({ before: new Date(before), limit }))),
  })
  return [
    ofPlans(
      'rejections.prune',
      (plan) => (at) => deleteOldRejections(database, { ...at, plan, before: at.before.getTime() }),
    ),
    { name: 'replay_outcomes.count', run: () => countForgottenOutcomes(database) },
    ofPlans('replays.prune', (plan) => (at) => deleteEndedReplays(database, { ...at, plan })),
    ofPlans('workflow_instances.prune', (plan) => (at) => deleteEndedInstances(database, { ...at, plan })),
    ofPlans('ai_runs.prune', (plan) => (at) => deleteEndedRuns(database, { ...at, plan })),
    ofPlans(
      'routing_plans.prune',
      (plan) => (at) => deleteUnusedPlanRows(database, { ...at, plan, graceMs: PLAN_GRACE_MS }),
    ),
  ]
}

/** Rows that are retained for a fixed time, whatever the plan is. */
function tasksOfAges({ database, clock }: Deps): readonly Task[] {
  const now = clock.now()
  const older = (name: string, age: number, prune: Prune): Task => ({
    name,
    run: () => pruned((limit) => prune({ before: new Date(now - age), limit })),
  })
  /** For statements that find few rows: they delete all of them at once. */
  const ended = (name: string, age: number, prune: (before: Date) => Promise<number>): Task => ({
    name,
    run: () => prune(new Date(now - age)),
  })
  const { idempotencyRetentionMs, adminIdempotencyRetentionMs, agentRegistrationRetentionMs } = LIMITS
  return [
    ended('webhook_urls.prune', HOUR_MS, (before) => deleteEndedUrls(database, before)),
    ended('orphaned_requests.prune', HOUR_MS, (before) => deleteEndedOrphans(database, before)),
    older('ingest_idempotency.prune', idempotencyRetentionMs, ({ before: since, limit }) =>
      pruneKeys(database, { since, limit }),
    ),
    older('admin_idempotency.prune', adminIdempotencyRetentionMs, ({ before: since, limit }) =>
      pruneRecords(database, { of: 'workspace', since, limit }),
    ),
    older('personal_idempotency.prune', adminIdempotencyRetentionMs, ({ before: since, limit }) =>
      pruneRecords(database, { of: 'person', since, limit }),
    ),
    older('refused_samples.prune', LIMITS.refusedSampleDays * DAY_MS, (at) => deleteOldSamples(database, at)),
    older('alerts.prune', LIMITS.alertRetentionDays * DAY_MS, (at) => deleteOldAlerts(database, at)),
    older('event_descendants.prune', LIMITS.descendantsRetentionMs, (at) => deleteOldDescendants(database, at)),
    older('workflow_versions.prune', HOUR_MS, (at) => deleteUnusedVersions(database, at)),
    ended('one_time_tokens.prune', DAY_MS, (before) => deleteTokensOver(database, before)),
    ended('sessions.prune', SESSIONS_KEPT_DAYS * DAY_MS, (before) => deleteSessionsOver(database, before)),
    ended('mails.prune', MAILS_KEPT_DAYS * DAY_MS, (before) => deleteOldMails(database, before)),
    ended('mails.outbox', 0, (before) => emptyOutbox(database, before)),
    ended('throttles.prune', 0, (before) => deleteFullBuckets(database, before)),
    ended('invites.prune', INVITES_KEPT_DAYS * DAY_MS, (before) => deleteEndedInvites(database, before)),
    older('agent_registrations.prune', agentRegistrationRetentionMs, (at) => deleteOldRegistrations(database, at)),
    ended('agent_registration_counts.prune', agentRegistrationRetentionMs, (before) =>
      deleteOldCounts(database, before.toISOString().slice(0, 10)),
    ),
    older('oauth_entries.prune', HOUR_MS, (at) => deleteExpiredEntries(database, at)),
    older('connected_agents.prune', LIMITS.revokedAgentRetentionMs, (at) => deleteRevokedAgents(database, at)),
    older('oauth_clients.prune', LIMITS.unusedClientMs, (at) => deleteUnusedClients(database, at)),
    {
      name: 'rollups.prune',
      run: () =>
        pruned((limit) =>
          deleteOldRollups(database, {
            minutesBefore: new Date(now - MINUTES_KEPT_DAYS * DAY_MS),
            hoursBefore: new Date(now - HOURS_KEPT_DAYS * DAY_MS),
            limit,
          }),
        ),
    },
  ]
}

/** A day is dropped when no workspace's plan retains it. */
async function longestRetention({ database, plans }: Deps): Promise<number> {
  const names = await plansInUse(database)
  return Math.max(...[...names, 'self_hosted'].map((name) => limitsOf(plans, name).retention_days))
}

/** Deletes in pieces, so that no statement runs long. */
async function pruned(prune: (limit: number) => Promise<number>): Promise<number> {
  let sum = 0
  for (let last = PRUNED_AT_ONCE_MAX; last === PRUNED_AT_ONCE_MAX; sum += last) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after another
    last = await prune(PRUNED_AT_ONCE_MAX)
  }
  return sum
}

/** Calls `prune` for each plan in use, with the time (milliseconds) before which it retains nothing. A plan that fails stops no other. */
async function planByPlan(
  { database, plans, clock }: Deps,
  prune: (plan: string, before: number) => Promise<number>,
): Promise<number> {
  const now = clock.now()
  let sum = 0
  await separately(await plansInUse(database), async (plan) => {
    sum += await prune(plan, now - limitsOf(plans, plan).retention_days * DAY_MS)
  })
  return sum
}
