import { LIMITS } from '@postroad/contract'
import { isSampled } from '../../domain/delivery/trace-context.ts'
import type { LogItem, Piece, SpanItem } from '../../domain/serving/forwarding/items.ts'
import { MARGIN_MS, type Open, type Position, type Round } from '../../domain/serving/forwarding/position.ts'
import { redactionOf } from '../../domain/serving/forwarding/redact.ts'
import { NOTHING, readSnapshot, type Horizon, type Snapshot } from '../../domain/serving/snapshot.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db.ts'
import { beginGeneration, readMoment } from '../../resources/serving/stream/queries.ts'
import type { ClaimedCursor } from '../../resources/serving/forwarders/cursors/queries.ts'
import { KINDS } from './kinds.ts'

export type Item = LogItem | SpanItem

export type Batch = {
  readonly items: readonly Item[]
  /** The position once the items are accepted. */
  readonly position: Position
  /** Set at the end of a round: everything until then is in this batch, or before it. */
  readonly sentUntil: number | undefined
  /** Open rows that were given up because there were too many. */
  readonly dropped: number
}

/** The most open rows that a position remembers. */
const OPEN_MAX = 5_000

type Reading = {
  readonly db: Db
  readonly clock: Clock
  readonly horizon: Horizon
  readonly cursor: ClaimedCursor
  readonly rowsMax: number
}

/** Reads rows after a position until a batch is full or the round ends. It changes nothing. */
export async function nextBatch(reading: Reading, from: Position): Promise<Batch> {
  const { cursor, rowsMax } = reading
  const items: Item[] = []
  let [position, bytes, rows, dropped] = [await begun(reading, from), 0, 0, 0]
  for (;;) {
    const { round } = position
    const kind = kindsOf(cursor).find(({ content }) => content === round.kind)
    const limit = rowsMax - rows
    // oxlint-disable-next-line no-await-in-loop -- page after page
    const found = kind === undefined ? [] : await kind.read(reading.db, readAt(reading, { position, limit }))
    const open: string[] = []
    let cut = false
    let after = round.after
    for (const { id, piece } of found) {
      const own = piece === 'open' || piece === 'later' ? [] : itemsOf(piece, cursor)
      const size = own.reduce((sum, item) => sum + sizeOf(item), 0)
      cut = items.length > 0 && bytes + size > LIMITS.forwardedBatchBytesMax
      if (cut) break
      if (piece === 'open') open.push(id)
      items.push(...own)
      bytes += size
      rows += 1
      after = id
    }
    const remembered = withOpen(round, open)
    dropped += remembered.dropped
    const next = { ...round, open: remembered.open, after }
    if (cut || found.length === limit)
      return { items, position: { ...position, round: next }, sentUntil: undefined, dropped }
    const following = kindAfter(round.kind, cursor)
    if (following === undefined) return { items, position: ended(position, next), sentUntil: round.at, dropped }
    position = { ...position, round: { ...next, kind: following, after: null } }
  }
}

type Within = Position & { readonly round: Round }

/** The position in a round. Starts a round if the previous one has ended. */
async function begun({ db, clock, horizon, cursor }: Reading, position: Position): Promise<Within> {
  const at = clock.now()
  const { snapshot, history } = await readMoment(db)
  if (history.endsWith('-0')) {
    await beginGeneration(db)
    return begun({ db, clock, horizon, cursor, rowsMax: 0 }, position)
  }
  const isSame = history === position.history
  if (isSame && position.round !== null) return { ...position, round: position.round }
  // Another database, or this one after a crash, has other transaction numbers. A read by time loses nothing, and repeats some rows.
  const from = isSame ? position : { ...position, history, from: textOf(NOTHING) }
  const floor = Math.max(0, Math.floor(horizon.behind(snapshotOf(snapshot), at) - MARGIN_MS))
  return { ...from, round: { to: snapshot, floor, at, kind: firstKind(cursor), after: null, open: {} } }
}

function ended({ history }: Within, round: Round): Position {
  return { history, from: round.to, floor: round.floor, round: null, open: round.open }
}

const kindsOf = ({ signal, content }: ClaimedCursor): typeof KINDS =>
  KINDS.filter((kind) => kind.signals.includes(signal) && content.includes(kind.content))

const firstKind = (cursor: ClaimedCursor): string => kindsOf(cursor)[0]?.content ?? 'nothing'

/** A kind that the forwarder no longer sends is skipped, for the next one in the order of all kinds. */
function kindAfter(kind: string, cursor: ClaimedCursor): string | undefined {
  const order = KINDS.map(({ content }): string => content)
  return kindsOf(cursor).find(({ content }) => order.indexOf(content) > order.indexOf(kind))?.content
}

function readAt({ clock, cursor }: Reading, { position, limit }: { position: Within; limit: number }) {
  const { round, from, floor, open } = position
  return {
    workspaceId: cursor.workspace_id,
    projectId: cursor.project_id,
    from: snapshotOf(from),
    to: snapshotOf(round.to),
    // A clock that was set back creates ids with earlier times.
    floor: Math.min(floor, clock.now() - MARGIN_MS),
    since: Math.max(0, cursor.since_ms),
    after: round.after,
    rowsMax: limit,
    nextFloor: round.floor,
    now: round.at,
    open: open[round.kind] ?? [],
    payloads: cursor.payloads && cursor.signal === 'logs',
    redaction: redactionOf(cursor, LIMITS.forwardedBodyCharsMax),
  }
}

function withOpen({ kind, open }: Round, more: readonly string[]): { open: Open; dropped: number } {
  if (more.length === 0) return { open, dropped: 0 }
  const all = [...(open[kind] ?? []), ...more]
  const dropped = Math.max(0, all.length - OPEN_MAX)
  return { open: { ...open, [kind]: all.slice(dropped) }, dropped }
}

function itemsOf(piece: Piece, cursor: ClaimedCursor): readonly Item[] {
  const { traceId, failed } = piece
  const isIn = traceId === undefined || (failed && cursor.always_errors) || isSampled(traceId, cursor.sample_rate)
  if (!isIn) return []
  return cursor.signal === 'logs' ? piece.logs : piece.spans
}

/** An estimate of an item's bytes in the encodings: names and values, with some for the rest. */
const FRAME_BYTES = 120
function sizeOf(item: Item): number {
  let size = FRAME_BYTES + ('body' in item ? item.body.length : item.name.length)
  for (const [name, value] of Object.entries(item.attributes)) size += name.length + 8 + String(value).length
  return size
}

function snapshotOf(text: string): Snapshot {
  const read = readSnapshot(text)
  if (read === undefined) throw new Error('The stored snapshot cannot be read.')
  return read
}

const textOf = ({ xmin, xmax, running }: Snapshot): string => `${xmin}:${xmax}:${running.join(',')}`
