import { encodeId, LIMITS, type Conditions } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { decodeCursor, encodeCursor } from '../../../domain/serving/cursor.ts'
import { seesNothing } from '../../../domain/serving/snapshot.ts'
import { decodePosition, encodePosition, type Position } from '../../../domain/serving/stream-cursor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { uuidv7Floor, uuidv7Ms } from '../../../platform/ids.ts'
import { WorkCounter } from '../../../domain/work-budget.ts'
import { lookThrough } from '../../capture/payloads/index.ts'
import { scanRecords } from '../../capture/records/index.ts'
import type { StoredRecord } from '../../../tasks/export-table.ts'
import { positionAfter, since as positionSince, type StreamReader } from '../stream/index.ts'

export type StoredPage = {
  readonly records: readonly StoredRecord[]
  readonly next_cursor: string | null
  readonly resume_cursor: string | null
  readonly reached: string | null
}

export type PageAsked = {
  readonly dataset: string
  readonly limit: number
  readonly cursor?: string | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  readonly f: Conditions
}

export type PageParts = {
  readonly deps: Deps
  readonly reader: StreamReader
  readonly at: { readonly workspaceId: string; readonly projectId: string }
}

/** The most rows that one call looks at, and their bytes. */
const SCANNED_MAX = 2_000
const INVALID =
  'The cursor is not valid for this order; send next_cursor or resume_cursor of an earlier page unchanged.'

/** The next records, newest first. */
export async function readNewest({ deps, at }: PageParts, asked: PageAsked): Promise<StoredPage> {
  const before = asked.cursor === undefined ? (floorOf(asked.until) ?? null) : decodeCursor(asked.cursor)
  if (before === undefined) throw refuse('invalid_request', INVALID)
  const work = new WorkCounter(LIMITS.searchWorkMax)
  const found = await scanRecords(
    { db: deps.database.forWorkspace(at.workspaceId), heavy: deps.heavy, ...at },
    {
      dataset: asked.dataset,
      webhookId: null,
      ruleId: null,
      delivery: null,
      conditions: asked.f,
      text: null,
      // The bound of the scan is exclusive.
      after: asked.since === undefined ? null : beforeFloor(asked.since),
      before,
      limit: asked.limit,
      scannedMax: asked.f.length === 0 ? asked.limit : SCANNED_MAX,
      work,
    },
  )
  const records = withinPage(found.rows)
  const reached = records.length < found.rows.length ? (records.at(-1)?.id ?? null) : found.reached
  return {
    records,
    next_cursor: reached === null ? null : encodeCursor(reached),
    resume_cursor: null,
    reached: timeOf(reached),
  }
}

/** The first records, up to the one with which the page is full. */
function withinPage(records: readonly StoredRecord[]): readonly StoredRecord[] {
  let bytes = 0
  const full = records.findIndex(({ data }) => {
    bytes += Buffer.byteLength(data)
    return bytes >= LIMITS.dataPageBytesMax
  })
  return full < 0 ? records : records.slice(0, full + 1)
}

const floorOf = (time: Date | undefined): string | undefined =>
  time === undefined ? undefined : uuidv7Floor(time.getTime())

/** The highest id before those of a time. */
const beforeFloor = (time: Date): string => `${uuidv7Floor(time.getTime() - 1).slice(0, 13)}-ffff-ffff-ffffffffffff`

const timeOf = (id: string | null): string | null => (id === null ? null : new Date(uuidv7Ms(id)).toISOString())

/**
 * The next records in the order of their visibility, so a copy that continues from its cursor misses none (docs/adr/0179).
 */
export async function readOldest(parts: PageParts, asked: PageAsked): Promise<StoredPage> {
  const filling: Filling = { records: [], bytes: 0, looked: 0, work: new WorkCounter(LIMITS.searchWorkMax) }
  let position = startOf(asked)
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each read starts where the previous one ended
    const page = await parts.reader.read({ scope: parts.at, position, datasets: [asked.dataset], live: true })
    const rows = seesNothing(page.from) ? page.rows.filter((row) => isBefore(row, asked.until)) : page.rows
    // oxlint-disable-next-line no-await-in-loop -- as above
    const taken = await take(parts, { filling, rows, asked })
    const { records } = filling
    if (taken === rows.length && rows.length < page.rows.length)
      return { records, next_cursor: null, resume_cursor: null, reached: null }
    const partway = taken < page.rows.length || page.more
    const last = page.rows[taken - 1]
    position = positionAfter(page, partway ? last : undefined)
    if (partway && !isFull(filling, asked)) continue
    const cursor = encodePosition(position)
    return partway
      ? { records, next_cursor: cursor, resume_cursor: cursor, reached: timeOf(last?.id ?? null) }
      : { records, next_cursor: null, resume_cursor: cursor, reached: null }
  }
}

function startOf({ cursor, since }: PageAsked): Position {
  if (cursor === undefined) return positionSince(since?.getTime() ?? 0)
  const position = decodePosition(cursor)
  if (position === undefined) throw refuse('invalid_request', INVALID)
  return position
}

type Filling = { readonly records: StoredRecord[]; bytes: number; looked: number; readonly work: WorkCounter }

const isFull = (filling: Filling, { limit }: PageAsked): boolean =>
  filling.records.length >= limit ||
  filling.bytes >= LIMITS.dataPageBytesMax ||
  filling.looked >= SCANNED_MAX ||
  filling.work.usedUp

const isBefore = ({ id }: StoredRecord, until: Date | undefined): boolean =>
  until === undefined || uuidv7Ms(id) < until.getTime()

type Taking = { readonly filling: Filling; readonly rows: readonly StoredRecord[]; readonly asked: PageAsked }

/** Adds rows until the page is full. Returns how many it looked at: at least one, if there is one. */
async function take(parts: PageParts, { filling, rows, asked }: Taking): Promise<number> {
  const { looked, found } = await matching(parts, { rows, conditions: asked.f, work: filling.work })
  for (const [index, row] of rows.slice(0, looked).entries()) {
    const inTime = uuidv7Ms(row.id) >= (asked.since?.getTime() ?? 0) && isBefore(row, asked.until)
    filling.looked += 1
    if (inTime && found.has(row)) {
      filling.records.push(row)
      filling.bytes += Buffer.byteLength(row.data)
    }
    if (isFull(filling, asked)) return index + 1
  }
  return looked
}

type Matching = {
  readonly rows: readonly StoredRecord[]
  readonly conditions: Conditions
  readonly work: WorkCounter
}

async function matching(
  { deps: { heavy }, at: { workspaceId } }: PageParts,
  { rows, conditions, work }: Matching,
): Promise<{ readonly looked: number; readonly found: ReadonlySet<StoredRecord> }> {
  const { looked, found } = await lookThrough({ heavy, workspaceId }, rows, {
    read: (batch) => batch.map(({ data }) => ({ payload: data })),
    bytesOf: ({ data }) => data.length,
    filter: { conditions, text: null },
    work,
  })
  return { looked, found: new Set(found) }
}

/** One record as it is delivered; its payload is the text that came in. */
export function recordJson({ id, dataset, received_at, data }: StoredRecord): string {
  const [name, event] = [JSON.stringify(dataset), encodeId('record', id)]
  return `{"id":"${event}","dataset":${name},"received_at":"${received_at.toISOString()}","data":${data}}`
}
