import { LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { WorkCounter } from '../../../domain/work-budget.ts'
import { lookThrough, readsPayloads, type PayloadFilter } from '../../capture/payloads/index.ts'
import { pieces, type Piece } from '../../search-pieces.ts'
import { listRuns, type AiRunRow, type RunFilter } from './queries.ts'

/** An output may be long, so few are in memory together. */
const READ_AT_ONCE = 100
/** The size of a long output. */
const RUN_BYTES = 65_536

type Asked = {
  readonly wanted: RunFilter
  readonly filter: PayloadFilter
  readonly before: string | null
  readonly limit: number
}

/** The matching runs, newest first. A filter on output or error reads the runs one by one, for a bounded time. */
export function searchRuns(ctx: Ctx, { wanted, filter, before, limit }: Asked) {
  const work = new WorkCounter(LIMITS.searchWorkMax)
  const atOnce = readsPayloads(filter) ? READ_AT_ONCE : limit
  return pieces<AiRunRow>(ctx, { limit, before, work }, async (at): Promise<Piece<AiRunRow>> => {
    const page = await listRuns(ctx.db, { ...ctx, ...wanted, before: at.before, limit: atOnce + 1 })
    const runs = page.slice(0, atOnce)
    const { looked, found } = await lookThrough(ctx, runs, {
      read: (batch) =>
        batch.map(({ output, error }) => ({
          payload: JSON.stringify({ output: output ?? undefined, error: error ?? undefined }),
        })),
      bytesOf: () => RUN_BYTES,
      filter,
      work,
    })
    const rows = found.slice(0, at.limit)
    const last = found.length > rows.length ? rows.at(-1) : looked < page.length ? runs[looked - 1] : undefined
    const scanned = last === undefined ? runs.length : runs.indexOf(last) + 1
    return { rows, reached: last?.id ?? null, scanned }
  })
}
