import { encodeId, LIMITS, type ReplayPlan } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { countPage, scan, type Wanted } from '../deliveries/index.ts'
import { readsPayloads } from '../../capture/payloads/index.ts'
import { findAllowance } from '../../workspace/usage/index.ts'

type Asked = {
  readonly wanted: Wanted
  readonly after: string | null
  readonly upto: string
  readonly ratePerSecond: number
}

/** The sample for estimating the payload size. A larger one would slow live traffic for little gain. */
const SAMPLED = 200
const COUNTED_PER_PAGE_MAX = 20_000
const DESTINATIONS_MAX = 100

type Group = { readonly destination_id: string; readonly state: string; readonly count: number }

/** The plan of a replay. Counts page by page, so that no statement runs long, and stops at a deadline. */
export async function planReplay(ctx: Ctx, asked: Asked): Promise<ReplayPlan> {
  const deadline = ctx.clock.now() + LIMITS.replayPlanMs
  const first = await scanNext(ctx, { ...asked, limit: SAMPLED })
  const groups: Group[] = first.rows.map(({ destination_id, state }) => ({ destination_id, state, count: 1 }))
  let { reached } = first
  while (reached !== null && ctx.clock.now() < deadline) {
    // oxlint-disable-next-line no-await-in-loop -- each page starts where the previous one ended
    const page = readsPayloads(asked.wanted)
      ? await scanNext(ctx, { ...asked, after: reached, limit: LIMITS.replayScannedPerPageMax })
      : await countNext(ctx, asked, reached)
    for (const row of page.rows)
      groups.push({ destination_id: row.destination_id, state: row.state, count: 'count' in row ? row.count : 1 })
    reached = page.reached
  }
  const count = sum(groups)
  const sampled = first.rows.reduce((bytes, row) => bytes + row.bytes, 0)
  const allowance = await findAllowance(ctx)
  return {
    count,
    complete: reached === null,
    bytes: first.rows.length === 0 ? 0 : Math.round((sampled / first.rows.length) * count),
    minutes: Math.round((count / asked.ratePerSecond / 60) * 100) / 100,
    duplicates: sum(groups.filter(({ state }) => state === 'delivered')),
    allowance:
      allowance === null ? null : { left: allowance.left, suffices: reached === null && count <= allowance.left },
    destinations: destinationsOf(groups),
  }
}

const scanNext = (ctx: Ctx, { wanted, after, upto, limit }: Asked & { readonly limit: number }) =>
  scan(ctx, { wanted, after, before: upto, newestFirst: false, limit, scannedMax: LIMITS.replayScannedPerPageMax })

async function countNext({ db, workspaceId, projectId }: Ctx, { wanted, upto }: Asked, after: string) {
  const page = await countPage(db, {
    workspaceId,
    projectId,
    filter: wanted,
    after,
    before: upto,
    limit: COUNTED_PER_PAGE_MAX,
  })
  return { rows: page.rows, reached: page.scanned < COUNTED_PER_PAGE_MAX ? null : page.reached }
}

const sum = (groups: readonly Group[]): number => groups.reduce((all, { count }) => all + count, 0)

function destinationsOf(groups: readonly Group[]): ReplayPlan['destinations'] {
  const counts = new Map<string, number>()
  for (const { destination_id, count } of groups) counts.set(destination_id, (counts.get(destination_id) ?? 0) + count)
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, DESTINATIONS_MAX)
    .map(([id, count]) => ({ id: encodeId('destination', id), count }))
}
