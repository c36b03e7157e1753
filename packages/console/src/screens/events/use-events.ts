import { useInfiniteQuery } from '@tanstack/react-query'
import type { Client } from '@postroad/sdk'
import { useMemo, useState } from 'react'
import { useClient, usePlace } from '../../data/place.ts'
import type { Tail } from '../../data/tail.ts'
import { useTail } from '../../data/use-tail.ts'
import { merged, recordRow, rejectionRow, rowOf, unfiledRow, type EventRow } from './rows.ts'

const PAGE_ROWS = 100
const DELIVERY_PAGES_MAX = 3
const EMPTY: readonly EventRow[] = []

/** Where a page begins: behind the records of the one before, and at its last moment. */
type Start = { readonly cursor?: string; readonly to?: string }
type Page = { readonly rows: readonly EventRow[]; readonly next: Start | undefined }

const NEWEST: Start = {}

/** What is stored: pages of a hundred records, with the rejections and the requests filed nowhere of the same time. */
function useStored(fromMs: number | undefined, enabled: boolean) {
  const client = useClient()
  const { project } = usePlace()
  const tail = useTail()
  return useInfiniteQuery({
    queryKey: [project.id, 'events', fromMs],
    queryFn: ({ pageParam, signal }) => readPage(client, { start: pageParam, fromMs, tail, signal }),
    initialPageParam: NEWEST,
    getNextPageParam: ({ next }) => next,
    enabled,
    // The tail brings what is newer, so what was read need not be read again.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
}

type Asked = { readonly start: Start; readonly fromMs: number | undefined; readonly tail: Tail; readonly signal: AbortSignal }

async function readPage(client: Client, { start: { cursor, to }, fromMs, tail, signal }: Asked): Promise<Page> {
  const options = { signal }
  const from = fromMs === undefined ? undefined : new Date(fromMs).toISOString()
  const { records, next_cursor: more } = await client.records.list({ limit: PAGE_ROWS, from, cursor }, options)
  const oldest = records.at(-1)?.received_at
  const since = more === null ? from : oldest
  const [rejected, submitted] = await Promise.all([
    client.rejections.list({ limit: 50, from: since, to }, options),
    client.submissions.list({ limit: 200, from: since, to }, options),
    readDeliveries(client, { tail, from: oldest, to, signal }),
  ])
  const unfiled = submitted.submissions.filter(({ record_ids }) => record_ids.length === 0)
  return {
    rows: merged(records.map(recordRow), rejected.rejections.map(rejectionRow), unfiled.map(unfiledRow)),
    next: more === null || oldest === undefined ? undefined : { cursor: more, to: oldest },
  }
}

/** The deliveries of a page's records: they were made with them. */
async function readDeliveries(client: Client, { tail, from, to, signal }: { readonly tail: Tail; readonly from: string | undefined; readonly to: string | undefined; readonly signal: AbortSignal }): Promise<void> {
  if (from === undefined) return
  let cursor: string | undefined
  for (let page = 0; page < DELIVERY_PAGES_MAX; page += 1) {
    const { deliveries, next_cursor } = await client.deliveries.list({ limit: 200, from, to, cursor }, { signal })
    for (const delivery of deliveries) tail.noteDelivery(delivery)
    if (next_cursor === null) return
    cursor = next_cursor
  }
}

/** The list: what is stored, and before it what the tail brought up to the moment when the reader began to read. */
export function useEvents({ fromMs, held, released }: { readonly fromMs: number | undefined; readonly held: boolean; readonly released: number }) {
  const tail = useTail()
  // The tail first: what comes while the pages are read is in one of the two.
  const stored = useStored(fromMs, tail.settled)
  const newest = tail.arrivals[0]?.number ?? 0
  const [shown, setShown] = useState({ upTo: 0, released })
  const upTo = !held || shown.released !== released ? newest : shown.upTo
  if (upTo !== shown.upTo || released !== shown.released) setShown({ upTo, released })
  const live = useMemo(() => tail.arrivals.filter(({ number }) => number <= upTo).map(rowOf), [tail.arrivals, upTo])
  const history = useMemo(() => stored.data?.pages.flatMap(({ rows }) => rows) ?? EMPTY, [stored.data])
  const rows = useMemo(() => merged(live, history), [live, history])
  return {
    rows,
    tail,
    heldBack: tail.arrivals.filter(({ number, kind }) => number > upTo && kind !== 'gap').length,
    isLoading: stored.isPending,
    error: stored.error,
    again: stored.refetch,
    more: stored.hasNextPage,
    isLoadingMore: stored.isFetchingNextPage,
    loadMore: () => {
      if (stored.hasNextPage && !stored.isFetching) void stored.fetchNextPage()
    },
  }
}
