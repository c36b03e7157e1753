import { encodeId, LIMITS, type RouteInput, type RouteOutput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { quantileMs, type Histogram } from '../../../domain/workspace/latency-histogram.ts'
import { monthOf } from '../../../domain/workspace/month.ts'
import { limitsOf } from '../../../domain/workspace/plan.ts'
import { refuse } from '../../../domain/refusal.ts'
import { bucketSeconds } from '../../../domain/workspace/time-bucket.ts'
import { uuidv7Ms } from '../../../platform/ids.ts'
import { listHolds } from '../../delivery/delivery-holds/index.ts'
import { presentBreaker } from '../../delivery/lanes/index.ts'
import { findProject, listProjectIds } from '../projects/index.ts'
import {
  rangeAt,
  sumDestinations,
  sumProjects,
  sumRejections,
  type CountedRange,
  type ProjectSums,
} from '../rollups/index.ts'
import { findUsage } from '../usage/index.ts'
import type { Room } from '../../verbs.ts'
import { measureBacklog, nameDestinations } from './queries.ts'

const { dashboardRangeDaysMax, dashboardRangeHoursDefault, backlogCountMax, failingDestinationsMax } = LIMITS
const HOUR_MS = 3_600_000
const EARLIEST_MS = Date.UTC(2000, 0, 1)
const HOURS_ONLY_AFTER_MS = 7 * 24 * HOUR_MS

type Asked = RouteInput<Routes['dashboard']['summary']>
type Summary = RouteOutput<Routes['dashboard']['summary']>['summary']
type Totals = Summary['totals']
type Scope = { readonly workspaceId: string; readonly projectIds: readonly string[] }
type Range = { readonly from: number; readonly to: number; readonly now: number }

export const dashboard: Room<'dashboard'> = {
  summary: async (ctx, asked) => {
    const scope = await scopeOf(ctx, asked)
    const range = await rangeAt(ctx.db, askedRange(ctx, asked))
    const { from, to } = range
    const before = await rangeAt(ctx.db, { from: from - (to - from), to: from, now: ctx.clock.now() })
    const [sums, previous, rejections, backlog, holds, failing, usage] = await Promise.all([
      sumOf(ctx, scope, range),
      sumOf(ctx, scope, before),
      sumRejections(ctx.db, { ...scope, pieces: range.pieces }),
      measureBacklog(ctx.db, { ...scope, max: backlogCountMax }),
      listHolds(ctx.db, { ...scope, now: ctx.clock.now() }),
      failingDestinations(ctx, scope, range),
      usageOf(ctx),
    ])
    return {
      summary: {
        ...presentRange(range),
        totals: presentTotals(sums),
        previous: presentTotals(previous),
        delivery_ms: quantiles(sums?.delivery_ms),
        response_ms: quantiles(sums?.response_ms),
        backlog: {
          pending: backlog.pending,
          retrying: backlog.retrying,
          paused: backlog.paused,
          held: Math.min(
            backlogCountMax,
            holds.reduce((sum, { count }) => sum + count, 0),
          ),
          oldest_accepted_at: backlog.oldest === null ? null : iso(uuidv7Ms(backlog.oldest)),
        },
        failing_destinations: failing,
        rejections: rejections.map(({ reason, count, last_at }) => ({ reason, count, last_at: last_at.toISOString() })),
        usage,
      },
    }
  },

  timeseries: async (ctx, asked) => {
    const scope = await scopeOf(ctx, asked)
    const wanted = askedRange(ctx, asked)
    const seconds = bucketSeconds({
      rangeMs: wanted.to - wanted.from,
      hoursOnly: wanted.from < wanted.now - HOURS_ONLY_AFTER_MS,
    })
    const [from, to] = [
      Math.floor(wanted.from / 1_000 / seconds) * seconds * 1_000,
      Math.ceil(wanted.to / 1_000 / seconds) * seconds * 1_000,
    ]
    const range = await rangeAt(ctx.db, { from, to, now: wanted.now, bucketSeconds: seconds })
    const found = await sumProjects(ctx.db, {
      ...scope,
      pieces: range.pieces,
      from: new Date(range.from),
      bucketSeconds: seconds,
    })
    const known = new Map(found.map((sums) => [sums.bucket, sums]))
    const points = Array.from({ length: (range.to - range.from) / 1_000 / seconds }, (_unused, bucket) => {
      const sums = known.get(bucket)
      return {
        at: new Date(range.from + bucket * seconds * 1_000).toISOString(),
        ...presentCounts(sums),
        delivery_ms: quantiles(sums?.delivery_ms),
        response_ms: quantiles(sums?.response_ms),
      }
    })
    return { timeseries: { ...presentRange(range), bucket_seconds: seconds, points } }
  },
}

async function scopeOf({ db, workspaceId }: Ctx, { project_id }: Asked): Promise<Scope> {
  if (project_id === undefined) return { workspaceId, projectIds: await listProjectIds(db, workspaceId) }
  const project = await findProject(db, { workspaceId, projectId: project_id })
  if (project === undefined) throw refuse('not_found')
  return { workspaceId, projectIds: [project.id] }
}

function askedRange({ clock }: Ctx, asked: Asked): Range {
  const now = clock.now()
  // The end is at most tomorrow, because later days are empty and the last day of the calendar has no next one.
  const to = Math.min(asked.to?.getTime() ?? now, now + 24 * HOUR_MS)
  const from = asked.from?.getTime() ?? to - dashboardRangeHoursDefault * HOUR_MS
  if (from >= to) throw refuse('invalid_request', 'query: `from` must be before `to`, and not in the future.')
  if (from < EARLIEST_MS) throw refuse('invalid_request', 'query: `from` is before the year 2000; send a later time.')
  if (to - from > dashboardRangeDaysMax * 24 * HOUR_MS)
    throw refuse(
      'invalid_request',
      `query: the range is longer than ${dashboardRangeDaysMax} days; send a shorter one.`,
    )
  return { from, to, now }
}

// oxlint-disable-next-line max-params -- the context, the scope, and the range
async function sumOf({ db }: Ctx, scope: Scope, { from, to, pieces }: CountedRange): Promise<ProjectSums | undefined> {
  const [sums] = await sumProjects(db, { ...scope, pieces, from: new Date(from), bucketSeconds: (to - from) / 1_000 })
  return sums
}

/** Deleted destinations are left out, so the query reads more than are shown. */
async function failingDestinations(
  { db }: Ctx,
  scope: Scope,
  { pieces }: CountedRange,
): Promise<Summary['failing_destinations']> {
  const found = await sumDestinations(db, { ...scope, pieces, failing: 4 * failingDestinationsMax })
  const named = new Map(
    (await nameDestinations(db, { ...scope, ids: found.map((row) => row.destination_id) })).map((row) => [row.id, row]),
  )
  return found
    .flatMap((row) => {
      const destination = named.get(row.destination_id)
      if (destination === undefined) return []
      const { name, enabled, disabled_reason, lane } = destination
      const ids = {
        destination_id: encodeId('destination', row.destination_id),
        project_id: encodeId('project', row.project_id),
      }
      return [
        {
          ...ids,
          name,
          enabled,
          disabled_reason,
          breaker: presentBreaker(lane),
          delivered: row.succeeded,
          failed: row.failed,
          response_ms: quantiles(row.response_ms),
        },
      ]
    })
    .slice(0, failingDestinationsMax)
}

/** The usage of the whole workspace. It is exact where a limit of the plan counts it. */
async function usageOf(ctx: Ctx): Promise<Summary['usage']> {
  const { db, workspaceId, plans } = ctx
  const now = ctx.clock.now()
  const month = monthOf(now)
  const used = await findUsage(db, { workspaceId, month })
  const { events_per_month: max_events, deliveries_per_month: max_deliveries } = limitsOf(plans, used.plan)
  const events = max_events === null ? await eventsSince(ctx, { from: Date.parse(month), now }) : used.events
  return {
    month: month.slice(0, 7),
    since: new Date(Math.max(Date.parse(month), used.created_at.getTime())).toISOString(),
    events,
    max_events,
    deliveries: max_deliveries === null ? null : used.deliveries,
    max_deliveries,
  }
}

/** The number of events according to the rollups. */
async function eventsSince(ctx: Ctx, { from, now }: { from: number; now: number }): Promise<number> {
  const { db, workspaceId } = ctx
  const range = await rangeAt(db, { from, to: now, now })
  const sums =
    range.from < range.to
      ? await sumOf(ctx, { workspaceId, projectIds: await listProjectIds(db, workspaceId) }, range)
      : undefined
  return sums?.submissions ?? 0
}

function presentRange({
  from,
  to,
  countedAt,
  closedUntil,
}: CountedRange): Pick<Summary, 'from' | 'to' | 'counted_at' | 'closed_until'> {
  return {
    from: iso(from),
    to: iso(to),
    counted_at: countedAt === null ? null : iso(countedAt),
    closed_until: countedAt === null ? null : iso(closedUntil),
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()

const NOTHING = {
  submissions: 0,
  records: 0,
  bytes: 0,
  rejected: 0,
  succeeded: 0,
  failed: 0,
  gave_up: 0,
  interrupted: 0,
  open: 0,
} as const

function presentCounts(sums: Pick<ProjectSums, keyof typeof NOTHING> = NOTHING): Omit<Totals, 'bytes'> {
  const { submissions, records, rejected, succeeded, failed, gave_up, interrupted, open } = sums
  return { submissions, records, rejected, delivered: succeeded, failed, gave_up, interrupted, open }
}

const presentTotals = (sums: ProjectSums | undefined): Totals => ({ ...presentCounts(sums), bytes: sums?.bytes ?? 0 })

function quantiles(histogram: Histogram = []): Summary['delivery_ms'] {
  const [p50, p95] = [quantileMs(histogram, 0.5), quantileMs(histogram, 0.95)]
  return p50 === null || p95 === null ? null : { p50, p95 }
}
