import { LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { encodeCursor } from '../../../domain/serving/cursor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { DbError } from '../../../platform/db.ts'
import { uuidv7Ms } from '../../../platform/ids.ts'
import { checkConditions } from '../../check-conditions.ts'
import { presentListed, scan, type DeliveryRow } from '../../delivery/deliveries/index.ts'
import { heldFilter } from '../../delivery/delivery-holds/index.ts'
import { readsPayloads } from '../../capture/payloads/index.ts'
import { idRange } from '../../id-range.ts'
import { PacedWork } from '../../../platform/paced-work.ts'
import { afterCursor } from '../../page.ts'
import { presentRecord, scanRecords } from '../../capture/records/index.ts'
import { presentListedSubmission, scanUnfiled } from '../../capture/submissions/index.ts'
import type { Room } from '../../verbs.ts'

type Verbs = Room<'search'>
type Piece<Row> = { readonly rows: readonly Row[]; readonly reached: string | null; readonly scanned: number }

/** The time after which one call starts no other piece. */
const SEARCH_MS = 2_000
const SCANNED_WITH_PAYLOADS_MAX = 500

/** Searches piece by piece until the page is full, the end is reached, or the limit is used up. The cursor then continues the search. */
async function pieces<Row>(
  ctx: Ctx,
  asked: { limit: number; before: string | null; work: PacedWork },
  next: (at: { limit: number; before: string | null }) => Promise<Piece<Row>>,
) {
  const rows: Row[] = []
  const until = ctx.clock.now() + SEARCH_MS
  let before = asked.before
  let scanned = 0
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each piece starts where the previous one ended
    const found = await inTime(next({ limit: asked.limit - rows.length, before }), scanned > 0)
    if (found === undefined) break
    rows.push(...found.rows)
    scanned += found.scanned
    before = found.reached
    if (before === null || rows.length >= asked.limit || asked.work.usedUp) break
    if (scanned >= LIMITS.searchScannedMax || ctx.clock.now() >= until) break
  }
  return {
    rows,
    scanned,
    ...(asked.work.usedUp && before !== null ? { budget_used_up: true } : {}),
    ...(before === null
      ? { next_cursor: null, reached: null }
      : { next_cursor: encodeCursor(before), reached: new Date(uuidv7Ms(before)).toISOString() }),
  }
}

const STATEMENT_TIMED_OUT = '57014'

/** undefined: a piece after the first one timed out, and the cursor leads to it. */
async function inTime<T>(work: Promise<T>, isLater: boolean): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DbError && error.code === STATEMENT_TIMED_OUT)) throw error
    if (isLater) return undefined
    throw refuse('search_timed_out')
  }
}

type SearchState = NonNullable<RouteInput<Routes['search']['deliveries']>['state']>[number]

/** The requested states of the table, and the lanes of `stuck`, which is not a state. */
async function wantedStates(ctx: Ctx, asked: readonly SearchState[] | undefined) {
  const states = asked?.filter((state) => state !== 'stuck') ?? null
  const stuck = asked?.includes('stuck') === true ? await heldFilter(ctx, 'stuck') : null
  return { states, stuck }
}

export const deliveries: Verbs['deliveries'] = async (
  ctx,
  { limit, cursor, q, f, dataset, webhook, destination, state, held_by, rule, ...times },
) => {
  checkConditions(f, 'f')
  const { fromId, toId } = idRange(times)
  const wanted = {
    ...(await wantedStates(ctx, state)),
    held: held_by === undefined ? null : await heldFilter(ctx, held_by),
    destinationId: destination ?? null,
    recordId: null,
    webhookId: webhook ?? null,
    dataset: dataset ?? null,
    ruleId: rule ?? null,
    conditions: f,
    text: q ?? null,
  }
  const scannedMax =
    readsPayloads(wanted) || wanted.ruleId !== null ? SCANNED_WITH_PAYLOADS_MAX : LIMITS.replayScannedPerPageMax
  const work = new PacedWork(LIMITS.searchWorkMax)
  const { rows, ...looked } = await pieces<DeliveryRow>(
    ctx,
    { limit, before: afterCursor(cursor) ?? toId, work },
    (at) =>
      scan(ctx, { wanted, newestFirst: true, after: fromId, before: at.before, limit: at.limit, scannedMax, work }),
  )
  return { deliveries: await presentListed(ctx, rows), ...looked }
}

export const events: Verbs['events'] = async (
  ctx,
  { limit, cursor, q, f, dataset, webhook, destination, state, rule, ...times },
) => {
  checkConditions(f, 'f')
  const { fromId, toId } = idRange(times)
  const delivery =
    state === undefined && destination === undefined
      ? null
      : { ...(await wantedStates(ctx, state)), destinationId: destination ?? null }
  const wanted = {
    webhookId: webhook ?? null,
    ruleId: rule ?? null,
    dataset: dataset ?? null,
    delivery,
    conditions: f,
    text: q ?? null,
  }
  const work = new PacedWork(LIMITS.searchWorkMax)
  const { rows, ...looked } = await pieces(ctx, { limit, before: afterCursor(cursor) ?? toId, work }, (at) =>
    scanRecords(ctx, {
      ...wanted,
      after: fromId,
      before: at.before,
      limit: at.limit,
      scannedMax: SCANNED_WITH_PAYLOADS_MAX,
      work,
    }),
  )
  return { records: rows.map(presentRecord), ...looked }
}

export const submissions: Verbs['submissions'] = async (ctx, { limit, cursor, q, f, webhook, ...times }) => {
  checkConditions(f, 'f')
  const { fromId, toId } = idRange(times)
  const work = new PacedWork(LIMITS.searchWorkMax)
  let [unreadable, unfiled] = [0, 0]
  const { rows, ...looked } = await pieces(ctx, { limit, before: afterCursor(cursor) ?? toId, work }, async (at) => {
    const found = await scanUnfiled(ctx, {
      webhookId: webhook ?? null,
      conditions: f,
      text: q ?? null,
      after: fromId,
      before: at.before,
      limit: at.limit,
      scannedMax: LIMITS.replayScannedPerPageMax,
      work,
    })
    unreadable += found.unreadable
    unfiled += found.unfiled
    return found
  })
  return { submissions: rows.map(presentListedSubmission), ...looked, unfiled, unreadable }
}
