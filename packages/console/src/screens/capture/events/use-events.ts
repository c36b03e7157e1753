import { ServiceError } from '@postroad/sdk/service-error'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { usePlace } from '../../../data/place.ts'
import type { Tail } from '../../../data/tail.ts'
import { usePatterns } from '../../../data/use-patterns.ts'
import { useTail } from '../../../data/use-tail.ts'
import { useExactClient } from '../../../parts/exact-client.ts'
import { useSettled } from '../../../parts/settled.ts'
import { readPage, type Start } from './pages.ts'
import { deliveriesOf, merged, rowOf, type EventRow } from './rows.ts'
import { isNarrowed, matcher, type Wanted } from './search.ts'

const EMPTY: readonly EventRow[] = []
const FIRST: Start = {}
/** After so many events in a row that do not match, the search waits until it is told to go on. */
const FRUITLESS_MAX = 20_000
const BAD_REQUEST = 400

/** What is stored, page by page, and how far it was looked through. */
function useStored(wanted: Wanted, enabled: boolean) {
  const client = useExactClient()
  const { project } = usePlace()
  const tail = useTail()
  const { matches } = usePatterns()
  return useInfiniteQuery({
    queryKey: [project.id, 'events', wanted],
    queryFn: ({ pageParam, signal }) => readPage(client, { wanted, start: pageParam, tail, matches, signal }),
    initialPageParam: FIRST,
    getNextPageParam: ({ next }) => next,
    enabled,
    // The tail brings what is newer for as long as this is shown, so what was read need not be read again.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  })
}

type Stored = ReturnType<typeof useStored>

/** A search goes on by itself until it has found something, for so long; then somebody has to want it. */
function useGoingOn(stored: Stored, wanted: Wanted) {
  const [allowed, setAllowed] = useState({ wanted, fruitless: FRUITLESS_MAX })
  if (allowed.wanted !== wanted) setAllowed({ wanted, fruitless: FRUITLESS_MAX })
  const pages = stored.data?.pages ?? []
  const fruitless = pages
    .slice(pages.findLastIndex(({ rows }) => rows.length > 0) + 1)
    .reduce((sum, { passed }) => sum + passed, 0)
  const isPaused = fruitless >= allowed.fruitless
  const { hasNextPage, isFetching, isPlaceholderData, error, fetchNextPage } = stored
  const canRead = hasNextPage && !isFetching && !isPlaceholderData && error === null
  const goesOn = canRead && !isPaused && fruitless > 0
  useEffect(() => {
    if (goesOn) void fetchNextPage()
  }, [goesOn, fetchNextPage])
  return {
    isPaused: isPaused && hasNextPage,
    isLooking: hasNextPage && !isPaused && error === null,
    stop: () => setAllowed({ wanted, fruitless: 0 }),
    further: () => setAllowed({ wanted, fruitless: fruitless + FRUITLESS_MAX }),
    loadMore: () => {
      if (canRead && !isPaused) void fetchNextPage()
    },
  }
}

/** One object for as long as the same is looked for: text once it is no longer being typed. */
function useWanted(wanted: Wanted): Wanted {
  const q = useSettled(wanted.q)
  const text = JSON.stringify({ ...wanted, q })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written in the line above
  return useMemo(() => JSON.parse(text) as Wanted, [text])
}

type Shown = { readonly wanted: Wanted; readonly held: boolean; readonly released: number }

/** The list: what is stored, and before it what the tail brought that is like it, up to the moment when one began to read. */
export function useEvents({ wanted: wantedNow, held, released }: Shown) {
  const tail = useTail()
  const wanted = useWanted(wantedNow)
  // The tail first: what comes while the pages are read is in one of the two.
  const stored = useStored(wanted, tail.settled)
  const goingOn = useGoingOn(stored, wanted)
  const patterns = usePatterns()
  const { version } = patterns
  const fits = useMemo(
    () => matcher(wanted, { tail, matches: patterns.matches }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the version says that more is known of patterns
    [wanted, tail, patterns, version],
  )
  const newest = tail.arrivals[0]?.number ?? 0
  const [shown, setShown] = useState({ upTo: 0, released })
  const upTo = !held || shown.released !== released ? newest : shown.upTo
  if (upTo !== shown.upTo || released !== shown.released) setShown({ upTo, released })
  const came = useMemo(
    () =>
      tail.arrivals.map((arrival) => ({ number: arrival.number, row: rowOf(arrival) })).filter(({ row }) => fits(row)),
    [tail.arrivals, fits],
  )
  const live = useMemo(() => came.filter(({ number }) => number <= upTo).map(({ row }) => row), [came, upTo])
  const history = useMemo(() => stored.data?.pages.flatMap(({ rows }) => rows) ?? EMPTY, [stored.data])
  const rows = useMemo(() => merged(live, history), [live, history])
  const isRefused = stored.error instanceof ServiceError && stored.error.status === BAD_REQUEST
  return {
    ...goingOn,
    // What fails is so at this moment: it changes with every delivery that the tail brings.
    rows:
      wanted.view === 'failing' || wanted.state !== undefined
        ? rows.filter((row) => isStillWanted(row, { fits, tail, wanted }))
        : rows,
    wanted,
    isNarrowed: isNarrowed(wanted) || wanted.view === 'rejected',
    tail,
    heldBack: came.filter(({ number, row }) => number > upTo && row.kind !== 'gap').length,
    scanned: stored.data?.pages.reduce((sum, page) => sum + page.scanned, 0) ?? 0,
    unreadable: stored.data?.pages.reduce((sum, page) => sum + page.unreadable, 0) ?? 0,
    reached: stored.data?.pages.at(-1)?.reached ?? null,
    isLoading: stored.isPending,
    isAsking: stored.isPlaceholderData,
    /** The server does not take the filter: its sentence belongs beside it. */
    refusal: isRefused ? stored.error : null,
    error: isRefused ? null : stored.error,
    /** Reads again what was read, for what the tail cannot bring. */
    refresh: () => stored.refetch(),
    again: () => (stored.data === undefined ? stored.refetch() : stored.fetchNextPage()),
    more: stored.hasNextPage,
    isLoadingMore: stored.isFetchingNextPage,
  }
}

/** What is asked of deliveries changes while one looks. A row whose deliveries were not read is as the server said. */
function isStillWanted(
  row: EventRow,
  { fits, tail, wanted }: { fits: (row: EventRow) => boolean; tail: Tail; wanted: Wanted },
): boolean {
  if (fits(row)) return true
  return (wanted.rule !== undefined || wanted.view !== 'failing') && deliveriesOf(tail, row).length === 0
}
