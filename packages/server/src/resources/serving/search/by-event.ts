import { LIMITS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { decodeCursor, encodeCursor } from '../../../domain/serving/cursor.ts'
import { refuse } from '../../../domain/refusal.ts'
import type { WorkCounter } from '../../../domain/work-budget.ts'
import { readsResponses } from '../../capture/payloads/index.ts'
import { indexProbes, scanRecords } from '../../capture/records/index.ts'
import { listInstances } from '../../automation/workflow-instances/index.ts'
import { listMatching, scan, type DeliveryRow, type Wanted } from '../../delivery/deliveries/index.ts'
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

/**
 * A position after a record, or after a delivery of a record: `<record>` or `<record>/<delivery>`. With the start of the range in
 * the place of the record, the deliveries of older events remain.
 */
const SEPARATOR = '/'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
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
  /** The range of the deliveries. */
  readonly after: string | null
  readonly until: string | null
  readonly before: string | null
  readonly limit: number
  readonly scannedMax: number
  readonly work: WorkCounter
}

/**
 * One piece: the matching deliveries of the next events that match, those of the newest event first. A workflow can deliver an event
 * long after it came, so the deliveries of events from before the range come last.
 */
export async function nextByEvent(ctx: Ctx, asked: Asked): Promise<Piece<DeliveryRow>> {
  const [record, delivery] = asked.before?.split(SEPARATOR) ?? []
  const { after } = asked
  if (after !== null && record === after) return nextOfOlder(ctx, { ...asked, after, delivery: delivery ?? LAST_ID })
  const piece = await nextOfEvents(ctx, { ...asked, record: record ?? null, delivery })
  if (piece.reached !== null || after === null || !(await hasInstances(ctx))) return piece
  return { ...piece, reached: `${after}${SEPARATOR}${LAST_ID}` }
}

type InEvents = Asked & { readonly record: string | null; readonly delivery: string | undefined }

async function nextOfEvents(ctx: Ctx, { record, delivery, ...asked }: InEvents): Promise<Piece<DeliveryRow>> {
  const { wanted, limit } = asked
  if (record !== null && delivery !== undefined) {
    const left = await matchingOf(ctx, { asked, recordIds: [record] })
    return cutOff(
      left.filter(({ id }) => id < delivery),
      { limit, piece: { reached: record, scanned: 0 } },
    )
  }
  const { states, stuck, destinationId } = wanted
  const found = await scanRecords(ctx, {
    ...wanted,
    before: record,
    after: asked.after,
    scannedMax: asked.scannedMax,
    work: asked.work,
    limit,
    delivery: { states, stuck, destinationId },
  })
  const rows = await matchingOf(ctx, { asked, recordIds: found.rows.map(({ id }) => id) })
  return cutOff(rows, { limit, piece: found })
}

type OfOlder = Asked & { readonly after: string; readonly delivery: string }

/** The matching deliveries of events from before the range. */
async function nextOfOlder(ctx: Ctx, { after, delivery, ...asked }: OfOlder): Promise<Piece<DeliveryRow>> {
  const { rows, reached, scanned, looked } = await scan(ctx, {
    wanted: { ...asked.wanted, recordBefore: after },
    newestFirst: true,
    after,
    before: delivery === LAST_ID ? asked.until : delivery,
    limit: asked.limit,
    scannedMax: LIMITS.replayScannedPerPageMax,
    work: asked.work,
  })
  return { rows, scanned, read: looked, reached: reached === null ? null : `${after}${SEPARATOR}${reached}` }
}

/** Only a workflow delivers an event long after it came. A project without runs has no such delivery. */
async function hasInstances(ctx: Ctx): Promise<boolean> {
  const any = { recordIds: null, workflowId: null, states: null, before: null, limit: 1 }
  return (await listInstances(ctx.db, { ...ctx, ...any })).length > 0
}

async function matchingOf(
  ctx: Ctx,
  { asked: { wanted, until }, recordIds }: { readonly asked: Asked; readonly recordIds: readonly string[] },
): Promise<readonly DeliveryRow[]> {
  if (recordIds.length === 0) return []
  const { workspaceId, projectId } = ctx
  const rows = await listMatching(ctx.db, { workspaceId, projectId, filter: wanted, recordIds })
  return rows.filter(({ id }) => until === null || id < until)
}

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
