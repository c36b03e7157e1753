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
import { deleteOldMails } from '../resources/people/mails/queries.ts'
import { pruneKeys } from '../resources/capture/idempotency-keys/queries.ts'
import { pruneRecords } from '../resources/workspace/idempotency-records/queries.ts'
import { deleteTokensOver } from '../resources/people/one-time-tokens/queries.ts'
import { deleteEndedReplays } from '../resources/delivery/replays/queries.ts'
import { deleteOldRejections, plansInUse } from '../resources/capture/rejections/queries.ts'
import { deleteOldSamples } from '../resources/capture/webhooks/refused-samples/queries.ts'
import { countExpired } from '../resources/serving/forwarders/expired/index.ts'
import { deleteOldRollups } from '../resources/workspace/rollups/queries.ts'
import { deleteSessionsOver } from '../resources/people/sessions/queries.ts'
import { deleteFullBuckets } from '../resources/people/throttles/queries.ts'
import { expireShorterPlans } from './retention.ts'

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

/**
 * Creates the tables of coming days, drops days past retention, and deletes rows that shorter plans no longer retain.
 * It also removes previous URLs, orphaned requests, idempotency keys, rejections, replays, workflow instances and AI runs
 * past retention, samples of rejected requests, old rollups, and the remains of sign-ins and of connected agents.
 */
export async function runUpkeep(deps: Deps): Promise<void> {
  const now = deps.clock.now()
  const made = await makeDays(deps.database, DAY_TABLES, { now, daysAhead: DAYS_AHEAD })
  const keepDays = await longestRetention(deps)
  // Forwarders count the rows that they lose while these still exist.
  for (const plan of await plansInUse(deps.database)) {
    const before = now - limitsOf(deps.plans, plan).retention_days * DAY_MS
    // oxlint-disable-next-line no-await-in-loop -- one plan after another
    await countExpired(deps, { plan, before })
  }
  const dropped = await dropDays(deps.database, DAY_TABLES, { now, keepDays })
  const expired = await expireShorterPlans(deps, keepDays)
  await deleteEndedUrls(deps.database, new Date(now - HOUR_MS))
  await deleteEndedOrphans(deps.database, new Date(now - HOUR_MS))
  const keys = await pruned((limit) =>
    pruneKeys(deps.database, { since: new Date(now - LIMITS.idempotencyRetentionMs), limit }),
  )
  const over = new Date(now - LIMITS.adminIdempotencyRetentionMs)
  const ofWorkspaces = await pruned((limit) => pruneRecords(deps.database, { of: 'workspace', since: over, limit }))
  const answers =
    ofWorkspaces + (await pruned((limit) => pruneRecords(deps.database, { of: 'person', since: over, limit })))
  const rejections = await planByPlan(deps, (plan, days, limit) =>
    deleteOldRejections(deps.database, { plan, before: now - days * DAY_MS, limit }),
  )
  const samples = await pruned((limit) =>
    deleteOldSamples(deps.database, { before: new Date(now - LIMITS.refusedSampleDays * DAY_MS), limit }),
  )
  await countForgottenOutcomes(deps.database)
  const replays = await planByPlan(deps, (plan, days, limit) =>
    deleteEndedReplays(deps.database, { plan, before: new Date(now - days * DAY_MS), limit }),
  )
  const instances = await planByPlan(deps, (plan, days, limit) =>
    deleteEndedInstances(deps.database, { plan, before: new Date(now - days * DAY_MS), limit }),
  )
  const runs = await planByPlan(deps, (plan, days, limit) =>
    deleteEndedRuns(deps.database, { plan, before: new Date(now - days * DAY_MS), limit }),
  )
  await pruned((limit) => deleteUnusedVersions(deps.database, { before: new Date(now - HOUR_MS), limit }))
  await forgetSignIns(deps, now)
  await forgetAgents(deps, now)
  await pruned((limit) =>
    deleteOldRollups(deps.database, {
      minutesBefore: new Date(now - MINUTES_KEPT_DAYS * DAY_MS),
      hoursBefore: new Date(now - HOURS_KEPT_DAYS * DAY_MS),
      limit,
    }),
  )
  if (made.length + dropped.length + expired + keys + answers + rejections + samples + replays + instances + runs > 0)
    deps.log.debug('upkeep.done', {
      made: made.length,
      dropped: dropped.length,
      expired,
      keys,
      answers,
      rejections,
      samples,
      replays,
      instances,
      runs,
    })
}

/** A day is dropped when no workspace's plan retains it. */
async function longestRetention({ database, plans }: Deps): Promise<number> {
  const names = await plansInUse(database)
  return Math.max(...[...names, 'self_hosted'].map((name) => limitsOf(plans, name).retention_days))
}

const MAILS_KEPT_DAYS = 7
const SESSIONS_KEPT_DAYS = 30
const INVITES_KEPT_DAYS = 30

/** Deletes expired links and challenges, sessions, sent emails, full buckets, and invites that nobody accepted. */
async function forgetSignIns({ database }: Deps, now: number): Promise<void> {
  await deleteTokensOver(database, new Date(now - DAY_MS))
  await deleteSessionsOver(database, new Date(now - SESSIONS_KEPT_DAYS * DAY_MS))
  await deleteOldMails(database, new Date(now - MAILS_KEPT_DAYS * DAY_MS))
  await deleteFullBuckets(database, new Date(now))
  await deleteEndedInvites(database, new Date(now - INVITES_KEPT_DAYS * DAY_MS))
  const before = new Date(now - LIMITS.agentRegistrationRetentionMs)
  await pruned((limit) => deleteOldRegistrations(database, { before, limit }))
  await deleteOldCounts(database, before.toISOString().slice(0, 10))
}

/** Deletes codes and tokens that have expired, agents that were revoked long ago, and clients that nobody has connected. */
async function forgetAgents({ database }: Deps, now: number): Promise<void> {
  await pruned((limit) => deleteExpiredEntries(database, { before: new Date(now - HOUR_MS), limit }))
  const revokedBefore = new Date(now - LIMITS.revokedAgentRetentionMs)
  await pruned((limit) => deleteRevokedAgents(database, { before: revokedBefore, limit }))
  const unusedSince = new Date(now - LIMITS.unusedClientMs)
  await pruned((limit) => deleteUnusedClients(database, { before: unusedSince, limit }))
}

/** Longer than the range in which minutes are read (resources/workspace/rollups/read/range.ts). */
const MINUTES_KEPT_DAYS = 8
const HOURS_KEPT_DAYS = 400

/** Deletes in pieces, so that no statement runs long. */
async function pruned(prune: (limit: number) => Promise<number>): Promise<number> {
  let sum = 0
  for (let last = PRUNED_AT_ONCE_MAX; last === PRUNED_AT_ONCE_MAX; sum += last) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after another
    last = await prune(PRUNED_AT_ONCE_MAX)
  }
  return sum
}

/** The same, plan by plan: `prune` gets the name of the plan, its retention in days, and the most rows to delete. */
async function planByPlan(
  { database, plans }: Deps,
  prune: (plan: string, days: number, limit: number) => Promise<number>,
): Promise<number> {
  let sum = 0
  for (const plan of await plansInUse(database)) {
    const days = limitsOf(plans, plan).retention_days
    // oxlint-disable-next-line no-await-in-loop -- one statement at a time
    sum += await pruned((limit) => prune(plan, days, limit))
  }
  return sum
}
