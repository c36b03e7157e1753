import type { Ctx } from '../../../context.ts'
import { decodeCursor, encodeCursor } from '../../../domain/serving/cursor.ts'
import { refuse } from '../../../domain/refusal.ts'
import type { PacedWork } from '../../../platform/paced-work.ts'
import { readsResponses } from '../../capture/payloads/index.ts'
import { indexProbes, scanRecords } from '../../capture/records/index.ts'
import { listMatching, type DeliveryRow, type Wanted } from '../../delivery/deliveries/index.ts'
import type { Piece } from '../../search-pieces.ts'

/** Deliveries of these states have an index, and they are few. */
const NOT_DELIVERED: ReadonlySet<string> = new Set(['failed', 'cancelled'])

/**
 * Whether a search for deliveries goes through the events, most of which the index rules out. The deliveries are then
 * in the order of the events.
 */
export function isByEvent(wanted: Wanted): boolean {
  const { states, stuck } = wanted
  if (states !== null && stuck === null && states.every((state) => NOT_DELIVERED.has(state))) return false
  return !readsResponses(wanted) && indexProbes(wanted).length > 0
}

/** A position after a record, or after a delivery of a record: `<record>` or `<record>/<delivery>`. */
const SEPARATOR = '/'
const CURSOR_SEPARATOR = '.'

export const encodeEventCursor = (before: string): string =>
  before.split(SEPARATOR).map(encodeCursor).join(CURSOR_SEPARATOR)

export function decodeEventCursor(cursor: string): string {
  const ids = cursor.split(CURSOR_SEPARATOR).map(decodeCursor)
  if (ids.length > 2 || ids.includes(undefined)) throw refuse('invalid_request', INVALID)
  return ids.join(SEPARATOR)
}

const INVALID = 'The cursor is not valid for this search; send next_cursor of the previous page unchanged.'

type Asked = {
  readonly wanted: Wanted
  readonly after: string | null
  readonly before: string | null
  readonly limit: number
  readonly scannedMax: number
  readonly work: PacedWork
}

/** One piece: the matching deliveries of the next events that match, those of the newest event first. */
export async function nextByEvent(ctx: Ctx, asked: Asked): Promise<Piece<DeliveryRow>> {
  const { wanted, limit } = asked
  const [record = null, delivery] = asked.before?.split(SEPARATOR) ?? []
  if (record !== null && delivery !== undefined) {
    const left = await matchingOf(ctx, { wanted, recordIds: [record] })
    return cutOff(
      left.filter(({ id }) => id < delivery),
      { limit, piece: { reached: record, scanned: 0 } },
    )
  }
  const { states, stuck, destinationId } = wanted
  const found = await scanRecords(ctx, {
    ...asked.wanted,
    before: record,
    after: asked.after,
    scannedMax: asked.scannedMax,
    work: asked.work,
    limit,
    delivery: { states, stuck, destinationId },
  })
  const rows = await matchingOf(ctx, { wanted, recordIds: found.rows.map(({ id }) => id) })
  return cutOff(rows, { limit, piece: found })
}

const matchingOf = (
  ctx: Ctx,
  { wanted, recordIds }: { readonly wanted: Wanted; readonly recordIds: readonly string[] },
): Promise<readonly DeliveryRow[]> =>
  recordIds.length === 0
    ? Promise.resolve([])
    : listMatching(ctx.db, { workspaceId: ctx.workspaceId, projectId: ctx.projectId, filter: wanted, recordIds })

/** The next piece continues after the last delivery of this one, which may be in the middle of an event. */
function cutOff(
  rows: readonly DeliveryRow[],
  {
    limit,
    piece: { reached, scanned, read },
  }: { readonly limit: number; readonly piece: Omit<Piece<DeliveryRow>, 'rows'> },
): Piece<DeliveryRow> {
  const looked = { scanned, ...(read === undefined ? {} : { read }) }
  const last = rows[limit - 1]
  if (last === undefined || rows.length === limit) return { rows, reached, ...looked }
  const isWithin = rows[limit]?.record_id === last.record_id
  return {
    rows: rows.slice(0, limit),
    reached: isWithin ? `${last.record_id}${SEPARATOR}${last.id}` : last.record_id,
    ...looked,
  }
}
