import { useInfiniteQuery } from '@tanstack/react-query'
import type { RejectionReason } from '@postroad/contract'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useClient, usePlace } from '../../../data/place.ts'
import { useReadOn } from '../../../data/read-on.ts'
import type { Rejection } from '../../../data/tail.ts'
import { useTail } from '../../../data/use-tail.ts'

/** The part of the log to read: one credential or all, one cause or all. */
export type Asked = {
  readonly hours: number
  readonly webhook?: string | undefined
  readonly key?: string | undefined
  readonly reason?: RejectionReason | undefined
}

const PAGE_ROWS = 200
/** The page reads this many rows by itself, and older ones after a press. */
const ROWS_AT_ONCE = 2_000
const HOUR_MS = 3_600_000
const FIRST: string | undefined = undefined

/** The log of rejected requests, page by page, and new ones from the tail. */
export function useRejections(asked: Asked) {
  const { hours, webhook, key, reason } = asked
  const client = useClient()
  const { project } = usePlace()
  const tail = useTail()
  // The start is fixed while the range stays the same.
  const [begin, setBegin] = useState(() => ({ hours, at: Date.now() - hours * HOUR_MS }))
  if (begin.hours !== hours) setBegin({ hours, at: Date.now() - hours * HOUR_MS })
  const from = new Date(begin.at).toISOString()
  const query = useInfiniteQuery({
    queryKey: [project.id, 'rejections', 'log', webhook, key, reason, from],
    queryFn: async ({ pageParam, signal }) => {
      // The tail opens first, so that no rejection is missing between it and the pages.
      await tail.settled
      return client.rejections.list(
        { limit: PAGE_ROWS, cursor: pageParam, webhook_id: webhook, ingest_key_id: key, reason, from },
        { signal },
      )
    },
    initialPageParam: FIRST,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const stored = useMemo(() => query.data?.pages.flatMap(({ rejections }) => rejections), [query.data])
  const rows = useMemo(() => {
    const came = tail.arrivals.flatMap((one) =>
      one.kind === 'rejection' && isLike(one.rejection, { webhook, key, reason, from }) ? [one.rejection] : [],
    )
    return stored === undefined ? undefined : newest([...came, ...stored])
  }, [stored, tail.arrivals, webhook, key, reason, from])
  const [wanted, setWanted] = useState(ROWS_AT_ONCE)
  const { hasNextPage, isFetching, error, fetchNextPage, refetch } = query
  const { returns } = tail
  const readAfter = useRef(returns)
  useEffect(() => {
    if (readAfter.current === returns) return
    readAfter.current = returns
    void refetch()
  }, [returns, refetch])
  const goesOn = hasNextPage && !isFetching && error === null && (stored?.length ?? 0) < wanted
  useReadOn({ goesOn, pages: query.data?.pages, fetchNextPage })
  return {
    rows,
    error,
    again: () => (query.data === undefined ? query.refetch() : fetchNextPage()),
    readAt: query.dataUpdatedAt,
    more: hasNextPage,
    isReading: isFetching,
    further: () => setWanted((stored?.length ?? 0) + ROWS_AT_ONCE),
  }
}

type Like = {
  readonly webhook: string | undefined
  readonly key: string | undefined
  readonly reason: string | undefined
  readonly from: string
}

function isLike(row: Rejection, { webhook, key, reason, from }: Like): boolean {
  return (
    row.at >= from &&
    (webhook === undefined || row.webhook_id === webhook) &&
    (key === undefined || row.ingest_key_id === key) &&
    (reason === undefined || row.reason === reason)
  )
}

/** The newest row of each minute, because the current minute arrives again with a higher count. */
function newest(rows: readonly Rejection[]): readonly Rejection[] {
  const byId = new Map<string, Rejection>()
  for (const row of rows) if ((byId.get(row.id)?.count ?? 0) < row.count) byId.set(row.id, row)
  return [...byId.values()]
}
