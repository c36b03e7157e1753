import { LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import { uuidv7Floor } from '../../../../platform/ids.ts'
import { DbError } from '../../../../platform/db.ts'
import { findPieceEnd, rankBy, rankPiece, type Of, type RankedRow } from './queries.ts'

const { recordsSortMs, recordsSortedPerPieceMax } = LIMITS
/** A piece is one statement, and no statement may take longer than 5 s. */
const PIECE_BYTES_MAX = 33_554_432
const STATEMENT_TIMED_OUT = '57014'

export type Sorted = {
  readonly ids: readonly string[]
  /** Records of submissions before this one were not compared; null: all were compared. */
  readonly since: string | null
}

type Order = { readonly key: string; readonly dir: 'asc' | 'desc'; readonly limit: number }

/**
 * The first records of an endpoint in an order, among all retained ones. PostgreSQL reads the values and selects the best, piece by piece
 * from the newest on, until all are compared or the time is used up.
 */
export async function sortRecords(
  ctx: Pick<Ctx, 'db' | 'clock'>,
  { of, order }: { of: Of; order: Order },
): Promise<Sorted> {
  const until = ctx.clock.now() + recordsSortMs
  const asked = { ...of, rank: rankBy(order.key), dir: order.dir, limit: order.limit }
  let best: readonly RankedRow[] = []
  let before: string | null = null
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each piece starts where the previous one ended
    const next = await nextPiece(ctx, { ...asked, before, best })
    if (next === 'end') return { ids: idsOf(best), since: null }
    if (next !== 'too slow') {
      best = next.best
      before = next.from
    }
    if (next === 'too slow' || ctx.clock.now() > until) {
      // oxlint-disable-next-line no-await-in-loop -- the loop ends here
      const isAll = next !== 'too slow' && (await endOf(ctx, { of, before })) === undefined
      return { ids: idsOf(best), since: isAll ? null : (before ?? uuidv7Floor(ctx.clock.now())) }
    }
  }
}

const idsOf = (best: readonly RankedRow[]): string[] => best.map(({ id }) => id)

const endOf = (ctx: Pick<Ctx, 'db'>, { of, before }: { of: Of; before: string | null }): Promise<string | undefined> =>
  findPieceEnd(ctx.db, { ...of, before, limit: recordsSortedPerPieceMax, bytesMax: PIECE_BYTES_MAX })

async function nextPiece(
  ctx: Pick<Ctx, 'db'>,
  at: Of & Omit<Parameters<typeof rankPiece>[1], 'from'>,
): Promise<{ readonly best: readonly RankedRow[]; readonly from: string } | 'end' | 'too slow'> {
  try {
    const from = await endOf(ctx, { of: at, before: at.before })
    return from === undefined ? 'end' : { best: await rankPiece(ctx.db, { ...at, from }), from }
  } catch (error) {
    if (error instanceof DbError && error.code === STATEMENT_TIMED_OUT) return 'too slow'
    throw error
  }
}
