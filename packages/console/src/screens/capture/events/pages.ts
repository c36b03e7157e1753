import type { Client } from '@postroad/sdk'
import { LIMITS } from '@postroad/contract'
import type { Tail } from '../../../data/tail.ts'
import { merged, recordRow, rejectionRow, unfiledRow, type EventRow } from './rows.ts'
import { isNarrowed, matcher, type Wanted } from './search.ts'

export type Page = {
  readonly rows: readonly EventRow[]
  readonly next: Start | undefined
  /** How many events were looked at for it, and back to when; null: to the begin of the range. */
  readonly scanned: number
  readonly reached: string | null
}

type Source = 'records' | 'rejections' | 'submissions'
/** Where each list goes on; null: it has come to its end. `left` are rows that stand behind what another list has not read yet. */
type Places = Readonly<Partial<Record<Source, { readonly cursor: string | null; readonly back: string }>>>
export type Start = { readonly cursor?: string; readonly places?: Places; readonly left?: readonly EventRow[] }

const PAGE_ROWS = 100
const DELIVERY_PAGES_MAX = 5
const FAILING = 'failed,retrying,stuck'

type Asked = {
  readonly wanted: Wanted
  readonly start: Start
  readonly tail: Tail
  readonly signal: AbortSignal
  readonly withDeliveries?: boolean
}

/** The next page of what is looked for, newest first. */
export function readPage(client: Client, asked: Asked): Promise<Page> {
  const { view } = asked.wanted
  if (view === 'rejected') return readRejected(client, asked)
  return isNarrowed(asked.wanted) ? readFound(client, asked) : readAll(client, asked)
}

const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString())
const timesOf = ({ from, to }: Wanted) => ({ from: iso(from), to: iso(to) })

async function readFound(
  client: Client,
  { wanted, start: { cursor }, tail, signal, withDeliveries = true }: Asked,
): Promise<Page> {
  const { f, q, dataset, view } = wanted
  const state = view === 'failing' ? FAILING : undefined
  const { records, next_cursor, scanned, reached } = await client.search.events(
    { limit: PAGE_ROWS, f: [...f], q, dataset, state, cursor, ...timesOf(wanted) },
    { signal },
  )
  if (withDeliveries) await readDeliveries(client, { tail, signal, ids: records.map(({ id }) => id) })
  return {
    rows: records.map(recordRow),
    next: next_cursor === null ? undefined : { cursor: next_cursor },
    scanned,
    reached,
  }
}

/** Refused requests have no search of their own: what is in them is looked for here. */
async function readRejected(client: Client, { wanted, start: { cursor }, tail, signal }: Asked): Promise<Page> {
  const { rejections, next_cursor } = await client.rejections.list(
    { limit: PAGE_ROWS, cursor, ...timesOf(wanted) },
    { signal },
  )
  return {
    rows: rejections.map(rejectionRow).filter(matcher(wanted, tail)),
    next: next_cursor === null ? undefined : { cursor: next_cursor },
    scanned: rejections.length,
    reached: rejections.at(-1)?.at ?? null,
  }
}

const SOURCES: readonly Source[] = ['records', 'rejections', 'submissions']
const ROUNDS_MAX = 3

/** Three lists as one: of each only what is newer than the place to which all of them have been read. */
async function readAll(client: Client, { wanted, start, tail, signal, withDeliveries = true }: Asked): Promise<Page> {
  let { places = {}, left = [] } = start
  let scanned = 0
  for (let round = 0; ; round += 1) {
    const behind = SOURCES.filter((source) => isBehind(places, source))
    // oxlint-disable-next-line no-await-in-loop -- what is read next depends on how far each list has come
    const pages = await Promise.all(
      behind.map(
        async (source) =>
          [
            source,
            await READ[source](client, { wanted, cursor: places[source]?.cursor ?? undefined, signal }),
          ] as const,
      ),
    )
    places = { ...places, ...Object.fromEntries(pages.map(([source, { cursor, back }]) => [source, { cursor, back }])) }
    left = merged(left, ...pages.map(([, page]) => page.rows))
    scanned += pages.reduce((sum, [, { rows }]) => sum + rows.length, 0)
    const back = backOf(places)
    const rows = left.filter(({ at }) => at >= back)
    if (rows.length === 0 && back !== '' && round < ROUNDS_MAX) continue
    // oxlint-disable-next-line no-await-in-loop -- the last thing before the page is given
    if (withDeliveries)
      await readDeliveries(client, {
        tail,
        signal,
        ids: rows.flatMap((row) => (row.kind === 'record' ? [row.id] : [])),
      })
    const hasMore = SOURCES.some((source) => places[source]?.cursor !== null)
    return {
      rows,
      next: hasMore ? { places, left: left.filter(({ at }) => at < back) } : undefined,
      scanned,
      reached: back === '' ? null : back,
    }
  }
}

/** The newest of the places that lists which go on have come to; '' when none goes on. */
function backOf(places: Places): string {
  return (
    SOURCES.map((source) => places[source]?.back ?? '')
      .toSorted()
      .at(-1) ?? ''
  )
}

function isBehind(places: Places, source: Source): boolean {
  const place = places[source]
  return place === undefined || (place.cursor !== null && place.back === backOf(places))
}

type Read = { readonly rows: readonly EventRow[]; readonly cursor: string | null; readonly back: string }
type Reader = (
  client: Client,
  asked: { readonly wanted: Wanted; readonly cursor: string | undefined; readonly signal: AbortSignal },
) => Promise<Read>

const READ: Readonly<Record<Source, Reader>> = {
  records: async (client, { wanted, cursor, signal }) => {
    const { records, next_cursor } = await client.records.list(
      { limit: PAGE_ROWS, cursor, ...timesOf(wanted) },
      { signal },
    )
    return {
      rows: records.map(recordRow),
      cursor: next_cursor,
      back: next_cursor === null ? '' : (records.at(-1)?.received_at ?? ''),
    }
  },
  rejections: async (client, { wanted, cursor, signal }) => {
    const { rejections, next_cursor } = await client.rejections.list(
      { limit: PAGE_ROWS, cursor, ...timesOf(wanted) },
      { signal },
    )
    const last = rejections.at(-1)?.at
    // Minutes are in order, not the moments in them: the next row may be from the same minute.
    return {
      rows: rejections.map(rejectionRow),
      cursor: next_cursor,
      back: next_cursor === null || last === undefined ? '' : `${last.slice(0, 17)}59.999Z`,
    }
  },
  submissions: async (client, { wanted, cursor, signal }) => {
    const { submissions, next_cursor } = await client.submissions.list(
      { limit: LIMITS.listLimitMax, cursor, ...timesOf(wanted) },
      { signal },
    )
    const unfiled = submissions.filter(({ record_ids }) => record_ids.length === 0)
    return {
      rows: unfiled.map(unfiledRow),
      cursor: next_cursor,
      back: next_cursor === null ? '' : (submissions.at(-1)?.received_at ?? ''),
    }
  },
}

/** The deliveries of a page's records, into the tail, which keeps the newest state of each. */
async function readDeliveries(
  client: Client,
  { tail, ids, signal }: { readonly tail: Tail; readonly ids: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  if (ids.length === 0) return
  const record_id = ids.slice(0, LIMITS.deliveriesRecordIdsMax).join(',')
  let cursor: string | undefined
  for (let page = 0; page < DELIVERY_PAGES_MAX; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page begins where the one before ended
    const { deliveries, next_cursor } = await client.deliveries.list(
      { limit: LIMITS.listLimitMax, record_id, cursor },
      { signal },
    )
    for (const delivery of deliveries) tail.noteDelivery(delivery)
    if (next_cursor === null) return
    cursor = next_cursor
  }
}
