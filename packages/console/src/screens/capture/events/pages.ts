import type { Client } from '@postroad/sdk'
import { LIMITS } from '@postroad/contract'
import type { MatchesPattern } from '@postroad/contract/filter'
import type { Tail } from '../../../data/tail.ts'
import { merged, recordRow, rejectionRow, unfiledRow, type EventRow } from './rows.ts'
import { asksForRecords, isNarrowed, matcher, placesOf, type Wanted } from './search.ts'

export type Page = {
  readonly rows: readonly EventRow[]
  readonly next: Start | undefined
  /** The number of events that were searched, and back to when; null: to the start of the range. */
  readonly scanned: number
  readonly reached: string | null
  /** The number of stored requests that the server passed over, including filed ones. */
  readonly passed: number
  /** The number of unfiled requests that were not searched because their body could not be read. */
  readonly unreadable: number
}

type Source = 'records' | 'rejections' | 'submissions' | 'found' | 'foundUnfiled'
/** The next place of each list; null: the list has ended. `left` are rows that are older than the place of another list. */
type Places = Readonly<Partial<Record<Source, { readonly cursor: string | null; readonly back: string }>>>
export type Start = { readonly cursor?: string; readonly places?: Places; readonly left?: readonly EventRow[] }

const PAGE_ROWS = 100
const DELIVERY_PAGES_MAX = 5
const FAILING = 'failed,retrying,stuck'

type Asked = {
  readonly wanted: Wanted
  readonly start: Start
  readonly tail: Tail
  readonly matches: MatchesPattern
  readonly signal: AbortSignal
  readonly withDeliveries?: boolean
}

/** The next page of the search, newest first. */
export function readPage(client: Client, asked: Asked): Promise<Page> {
  return asked.wanted.view === 'rejected' ? readRejected(client, asked) : readAll(client, asked)
}

/** The lists to read. A search of payloads reads events and unfiled requests. */
function sourcesOf(wanted: Wanted): readonly Source[] {
  if (!isNarrowed(wanted)) return ['records', 'rejections', 'submissions']
  return asksForRecords(wanted) ? ['found'] : ['found', 'foundUnfiled']
}

const iso = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(ms).toISOString())
const timesOf = ({ from, to }: Wanted) => ({ from: iso(from), to: iso(to) })

/** There is no search of rejected requests, so the page searches them here. */
async function readRejected(client: Client, { wanted, start, tail, matches, signal }: Asked): Promise<Page> {
  const { cursor } = start
  const { rejections, next_cursor } = await client.rejections.list(
    { limit: PAGE_ROWS, cursor, webhook_id: wanted.webhook, ...timesOf(wanted) },
    { signal },
  )
  return {
    rows: rejections.map(rejectionRow).filter(matcher(wanted, { tail, matches })),
    next: next_cursor === null ? undefined : { cursor: next_cursor },
    scanned: rejections.length,
    reached: rejections.at(-1)?.at ?? null,
    passed: rejections.length,
    unreadable: 0,
  }
}

const ROUNDS_MAX = 3

/** Several lists as one: only the rows that are newer than the place of every list. */
async function readAll(client: Client, { wanted, start, tail, signal, withDeliveries = true }: Asked): Promise<Page> {
  const sources = sourcesOf(wanted)
  // Reports the progress of a search after each answer.
  const roundsMax = isNarrowed(wanted) ? 0 : ROUNDS_MAX
  let { places = {}, left = [] } = start
  let [scanned, passed, unreadable] = [0, 0, 0]
  for (let round = 0; ; round += 1) {
    const behind = sources.filter((source) => isBehind(places, { source, sources }))
    // oxlint-disable-next-line no-await-in-loop -- the next read depends on how far each list has come
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
    for (const [, page] of pages) {
      scanned += page.scanned ?? page.rows.length
      passed += page.passed ?? page.rows.length
      unreadable += page.unreadable ?? 0
    }
    const back = backOf(places, sources)
    const rows = left.filter(({ at }) => at >= back)
    if (rows.length === 0 && back !== '' && round < roundsMax) continue
    // oxlint-disable-next-line no-await-in-loop -- the last read before the page is complete
    if (withDeliveries)
      await readDeliveries(client, {
        tail,
        signal,
        ids: rows.flatMap((row) => (row.kind === 'record' ? [row.id] : [])),
      })
    const hasMore = sources.some((source) => places[source]?.cursor !== null)
    return {
      rows,
      next: hasMore ? { places, left: left.filter(({ at }) => at < back) } : undefined,
      scanned,
      passed,
      unreadable,
      reached: back === '' ? null : back,
    }
  }
}

/** The newest place among the lists that continue; '' when none continues. */
function backOf(places: Places, sources: readonly Source[]): string {
  return (
    sources
      .map((source) => places[source]?.back ?? '')
      .toSorted()
      .at(-1) ?? ''
  )
}

function isBehind(
  places: Places,
  { source, sources }: { readonly source: Source; readonly sources: readonly Source[] },
): boolean {
  const place = places[source]
  return place === undefined || (place.cursor !== null && place.back === backOf(places, sources))
}

type Read = {
  readonly rows: readonly EventRow[]
  readonly cursor: string | null
  readonly back: string
} & Partial<Pick<Page, 'scanned' | 'passed' | 'unreadable'>>
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
    // The list orders minutes, not the moments in them, so the next row can be from the same minute.
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
  found: async (client, { wanted, cursor, signal }) => {
    const { f, q, dataset, webhook, destination, rule, view } = wanted
    const state = wanted.state ?? (view === 'failing' ? FAILING : undefined)
    const { records, next_cursor, scanned, reached } = await client.search.events(
      {
        limit: PAGE_ROWS,
        f: [...f],
        q,
        in: placesOf(q),
        dataset,
        webhook,
        destination,
        rule,
        state,
        cursor,
        ...timesOf(wanted),
      },
      { signal },
    )
    return { rows: records.map(recordRow), cursor: next_cursor, back: reached ?? '', scanned, passed: scanned }
  },
  foundUnfiled: async (client, { wanted, cursor, signal }) => {
    const { f, q, webhook } = wanted
    const { submissions, next_cursor, scanned, unfiled, unreadable, reached } = await client.search.submissions(
      { limit: PAGE_ROWS, f: [...f], q, in: placesOf(q), webhook, cursor, ...timesOf(wanted) },
      { signal },
    )
    return {
      rows: submissions.map(unfiledRow),
      cursor: next_cursor,
      back: reached ?? '',
      scanned: unfiled,
      passed: scanned,
      unreadable,
    }
  },
}

/** Merges the deliveries of a page's records into the tail, which stores the newest state of each. */
async function readDeliveries(
  client: Client,
  { tail, ids, signal }: { readonly tail: Tail; readonly ids: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  if (ids.length === 0) return
  const record_id = ids.slice(0, LIMITS.deliveriesRecordIdsMax).join(',')
  let cursor: string | undefined
  for (let page = 0; page < DELIVERY_PAGES_MAX; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page starts where the previous one ended
    const { deliveries, next_cursor } = await client.deliveries.list(
      { limit: LIMITS.listLimitMax, record_id, cursor },
      { signal },
    )
    for (const delivery of deliveries) tail.noteDelivery(delivery)
    if (next_cursor === null) return
    cursor = next_cursor
  }
}
