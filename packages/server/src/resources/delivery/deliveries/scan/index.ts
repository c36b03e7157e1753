import { LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../../context.ts'
import {
  listPayloads,
  lookThrough,
  readsPayloads,
  withinBytes,
  type PayloadFilter,
} from '../../../capture/payloads/index.ts'
import { PacedWork } from '../../../../platform/paced-work.ts'
import { scanPage, type Between, type ScanFilter, type ScannedRow } from './queries.ts'

export { countPage, inStates, type ScanFilter, type ScannedRow } from './queries.ts'

export type Wanted = ScanFilter & PayloadFilter

export type Scan = Between & {
  readonly wanted: Wanted
  readonly newestFirst: boolean
  /** How many matches at most. */
  readonly limit: number
  /** How many deliveries are looked at, at most. */
  readonly scannedMax: number
  /** What reading the payloads may take; absent: what one search may. */
  readonly work?: PacedWork
}

export type Found = {
  readonly rows: readonly ScannedRow[]
  /** Where to go on; null: nothing lies beyond. */
  readonly reached: string | null
}

/** One bounded piece of work: the next deliveries that match, of the next so many there are, in at most so many bytes of payloads. */
export async function scan(ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId'>, asked: Scan): Promise<Found> {
  const at = { workspaceId: ctx.workspaceId, projectId: ctx.projectId }
  const { wanted, scannedMax, limit } = asked
  const byPayload = readsPayloads(wanted)
  // One more than is wanted says that there is more.
  const page = await scanPage(ctx.db, {
    ...at,
    ...asked,
    filter: wanted,
    limit: scannedMax,
    matchesMax: byPayload ? null : limit + 1,
  })
  const end = page.scanned < scannedMax
  if (!byPayload) return cutOff({ rows: page.rows, reached: end ? null : page.reached }, limit)
  const read = withinBytes(page.rows)
  const payloads = new Map(
    (await listPayloads(ctx.db, { ...at, recordIds: [...new Set(read.map((row) => row.record_id))] })).map((row) => [
      row.id,
      row.data,
    ]),
  )
  const { looked, found } = await lookThrough(read, {
    payloadOf: (row) => payloads.get(row.record_id),
    filter: wanted,
    work: asked.work ?? new PacedWork(LIMITS.searchWorkMax),
  })
  const whole = looked === page.rows.length
  return cutOff({ rows: found, reached: whole ? (end ? null : page.reached) : (read[looked - 1]?.id ?? null) }, limit)
}

/** What goes beyond the limit is for the next piece. */
function cutOff({ rows, reached }: Found, limit: number): Found {
  return rows.length <= limit
    ? { rows, reached }
    : { rows: rows.slice(0, limit), reached: rows[limit - 1]?.id ?? reached }
}
