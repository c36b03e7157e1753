import { ServiceError } from '@postroad/sdk/service-error'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useReadOn } from '../../../data/read-on.ts'
import { usePlace } from '../../../data/place.ts'
import type { Tail } from '../../../data/tail.ts'
import { usePatterns } from '../../../data/use-patterns.ts'
import { useTail } from '../../../data/use-tail.ts'
import { useExactClient } from '../../../parts/exact-client.ts'
import { useSettled } from '../../../parts/settled.ts'
import { readPage, type Start } from './pages.ts'
import { deliveriesOf, merged, rowOf, type EventRow } from './rows.ts'
import { asksServer, isNarrowed, matcher, type Wanted } from './search.ts'
import { useReadAgain } from './use-read-again.ts'

const EMPTY: readonly EventRow[] = []
const FIRST: Start = {}
/** After this many events in a row without a match, the search waits for a press. */
const FRUITLESS_MAX = 20_000
const BAD_REQUEST = 400

/** The stored events, page by page, and the progress of the search. */
function useStored(wanted: Wanted, held: boolean) {
  const client = useExactClient()
  const { project } = usePlace()
  const tail = useTail()
  const { matches } = usePatterns()
  const stored = useInfiniteQuery({
    queryKey: [project.id, 'events', wanted],
    queryFn: async ({ pageParam, signal }) => {
      // The tail first, so that an event that arrives while the pages load is in one of the two.
      await tail.settled
      return readPage(client, { wanted, start: pageParam, tail, matches, signal })
    },
    initialPageParam: FIRST,
    getNextPageParam: ({ next }) => next,
    // The tail brings newer events while the list is shown, so no page has to be read again.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData,
  })
  useReadAgain(stored, { newest: newestOf(tail), isNeeded: !held && asksServer(wanted) })
  return stored
}

const newestOf = (tail: Tail): number => tail.arrivals[0]?.number ?? 0

type Stored = ReturnType<typeof useStored>

/** A search continues by itself until it finds something, up to a bound; then it waits for a press. */
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
  useReadOn({ goesOn, pages: stored.data?.pages, fetchNextPage })
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

/** One object while the search stays the same; typed text counts once the person pauses. */
function useWanted(wanted: Wanted): Wanted {
  const q = useSettled(wanted.q)
  const text = JSON.stringify({ ...wanted, q })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the line above wrote this text
  return useMemo(() => JSON.parse(text) as Wanted, [text])
}

type Shown = { readonly wanted: Wanted; readonly held: boolean; readonly released: number }

/** The list: the matching events of the tail, until the person started to read, and then the stored events. */
export function useEvents({ wanted: wantedNow, held, released }: Shown) {
  const tail = useTail()
  const wanted = useWanted(wantedNow)
  const stored = useStored(wanted, held)
  const goingOn = useGoingOn(stored, wanted)
  const patterns = usePatterns()
  const { version } = patterns
  const fits = useMemo(
    () => matcher(wanted, { tail, matches: patterns.matches }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the version changes with the known answers about patterns
    [wanted, tail, patterns, version],
  )
  const newest = newestOf(tail)
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
    // The failing events change with every delivery that the tail receives.
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
    /** The server refuses the filter: its sentence belongs beside the filter. */
    refusal: isRefused ? stored.error : null,
    error: isRefused ? null : stored.error,
    /** Reads the pages again, for changes that the tail does not receive. */
    refresh: () => stored.refetch(),
    again: () => (stored.data === undefined ? stored.refetch() : stored.fetchNextPage()),
    more: stored.hasNextPage,
    isLoadingMore: stored.isFetchingNextPage,
  }
}

/** The states of deliveries change while the list is open. A row whose deliveries were not read stays as the server reported it. */
function isStillWanted(
  row: EventRow,
  { fits, tail, wanted }: { fits: (row: EventRow) => boolean; tail: Tail; wanted: Wanted },
): boolean {
  if (fits(row)) return true
  return (wanted.rule !== undefined || wanted.view !== 'failing') && deliveriesOf(tail, row).length === 0
}
