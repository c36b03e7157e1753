import { LIMITS } from '@postroad/contract'
import type { Ctx } from '../context.ts'
import { encodeCursor } from '../domain/serving/cursor.ts'
import { Refusal } from '../domain/refusal.ts'
import { DbError } from '../platform/db.ts'
import { uuidv7Ms } from '../platform/ids.ts'
import type { WorkCounter } from '../domain/work-budget.ts'

export type Piece<Row> = {
  readonly rows: readonly Row[]
  readonly reached: string | null
  /** The number of items in the piece. */
  readonly scanned: number
  /** The number of items that were read, if the index ruled out others; absent: all of them. */
  readonly read?: number
}

/** The time after which a call starts no further piece. */
const SEARCH_MS = 2_000

type Asked<Row> = {
  readonly limit: number
  readonly before: string | null
  readonly work: WorkCounter
  readonly encode?: (before: string) => string
  /** The size of a row of the answer, whose rows together have a limit; absent: rows are small. */
  readonly bytesOf?: (row: Row) => number
}

/** Searches piece by piece until the page is full, the end is reached, or the limit is used up. The cursor then continues the search. */
export async function pieces<Row>(
  ctx: Ctx,
  asked: Asked<Row>,
  next: (at: { limit: number; before: string | null }) => Promise<Piece<Row>>,
) {
  const rows: Row[] = []
  const until = ctx.clock.now() + SEARCH_MS
  let before = asked.before
  let [scanned, read] = [0, 0]
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each piece starts where the previous one ended
    const found = await inTime(next({ limit: asked.limit - rows.length, before }), scanned > 0)
    if (found === undefined) break
    rows.push(...found.rows)
    scanned += found.scanned
    read += found.read ?? found.scanned
    before = found.reached
    if (before === null || isFull(rows, asked)) break
    if (asked.work.usedUp || read >= LIMITS.searchScannedMax || ctx.clock.now() >= until) break
  }
  return {
    rows,
    scanned,
    read,
    ...(asked.work.usedUp && before !== null ? { budget_used_up: true } : {}),
    ...endOf(before, asked.encode ?? encodeCursor),
  }
}

const isFull = <Row>(rows: readonly Row[], { limit, bytesOf }: Asked<Row>): boolean =>
  rows.length >= limit ||
  (bytesOf !== undefined && rows.reduce((sum, row) => sum + bytesOf(row), 0) >= LIMITS.recordsListBytesMax)

const endOf = (before: string | null, encode: (before: string) => string) =>
  before === null
    ? { next_cursor: null, reached: null }
    : { next_cursor: encode(before), reached: new Date(uuidv7Ms(before)).toISOString() }

const STATEMENT_TIMED_OUT = '57014'

/** undefined: a piece after the first one timed out, and the cursor leads to it. */
async function inTime<T>(work: Promise<T>, isLater: boolean): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DbError && error.code === STATEMENT_TIMED_OUT)) throw error
    if (isLater) return undefined
    throw new Refusal('search_timed_out', { cause: error })
  }
}
