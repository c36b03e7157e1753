import { encodeId } from '@postroad/contract'
import type { Ctx, Deps } from '../../../context.ts'
import { RawJson } from '../../../domain/json/raw-json.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { encodePosition } from '../../../domain/serving/stream-cursor.ts'
import { findLimits } from '../../workspace/usage/index.ts'
import type { Room } from '../../verbs.ts'
import { readOldest, type StoredPage } from '../stored-records/index.ts'
import {
  confirmStreamPlaces,
  CONFIRM_MS,
  createStreamReader,
  leaveStreamPlace,
  takeStreamPlace,
  type Place,
  type StreamReader,
} from '../stream/index.ts'

type Wait = Room<'search'>['wait']
type Asked = Parameters<Wait>[1]

/** A waiting call reads this often. Between two reads it has no connection of the database. */
const LOOK_MS = 1_000
const RETRY_SECONDS = 10

/** The next events after a cursor, as soon as there are any. */
export const wait: Wait = async (ctx, asked) => {
  const reader = readerOf(ctx)
  if (asked.after === undefined && asked.wait_seconds === 0)
    return { events: [], cursor: encodePosition(await reader.now()) }
  const place = await takePlace(ctx)
  try {
    return await firstPage({ ctx, reader, place }, asked)
  } finally {
    if (place !== undefined) await leaveStreamPlace(ctx, place)
  }
}

type Waiting = { readonly ctx: Ctx; readonly reader: StreamReader; readonly place: Place | undefined }

async function firstPage({ ctx, reader, place }: Waiting, asked: Asked) {
  const { clock } = ctx
  const endsAt = clock.now() + asked.wait_seconds * 1_000
  let confirmAt = clock.now() + CONFIRM_MS
  let cursor = asked.after ?? encodePosition(await reader.now())
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each read starts where the previous one ended
    const page = await readOldest({ deps: ctx, reader, at: ctx }, { ...asked, cursor })
    cursor = page.resume_cursor ?? cursor
    const now = clock.now()
    // A page without a match can end before everything was looked at.
    if (page.records.length > 0 || now >= endsAt) return shown(page, cursor)
    if (page.next_cursor !== null) continue
    // oxlint-disable-next-line no-await-in-loop -- the wait between two reads
    await new Promise<void>((resolve) => void clock.wakeAt(Math.min(now + LOOK_MS, endsAt), resolve))
    if (place === undefined || clock.now() < confirmAt) continue
    confirmAt = clock.now() + CONFIRM_MS
    // oxlint-disable-next-line no-await-in-loop -- as above
    await confirmStreamPlaces(ctx, [place])
  }
}

const shown = ({ records }: StoredPage, cursor: string) => ({
  events: records.map(({ id, dataset, received_at, data }) => ({
    id: encodeId('record', id),
    dataset,
    received_at: received_at.toISOString(),
    data: new RawJson(data),
  })),
  cursor,
})

/** Waiting calls share the streams of the plan, in all processes. undefined: the plan has no limit. */
async function takePlace(ctx: Ctx): Promise<Place | undefined> {
  const { stream_connections: max } = await findLimits(ctx)
  const place = { workspaceId: ctx.workspaceId, id: ctx.uuid() }
  if (max === null) return undefined
  if (await takeStreamPlace(ctx, { ...place, max })) return place
  throw new Refusal('stream_limit_reached', { fields: { retry_after: RETRY_SECONDS } })
}

/** All waiting calls of a process take turns to read, beside the streams. */
const readers = new WeakMap<Deps['clock'], StreamReader>()

function readerOf(ctx: Ctx): StreamReader {
  const reader = readers.get(ctx.clock) ?? createStreamReader(ctx)
  readers.set(ctx.clock, reader)
  return reader
}
