import { wordOf } from '@postroad/contract/lights'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, type ReactElement } from 'react'
import { readsEvery } from '../../../data/ask.ts'
import { useGo, useSearchState } from '../../../data/go.tsx'
import { useClient, usePlace } from '../../../data/place.ts'
import type { ListedDelivery } from '../../../data/tail.ts'
import { useDestinations } from '../../../data/names.ts'
import { useTail } from '../../../data/use-tail.ts'
import { useMarks } from '../../../parts/marks.ts'
import { counted } from '../../../parts/text-list.ts'
import { useKeys } from '../../../shell/keys.ts'
import { Button, Kbd } from '../../../ui/button.tsx'
import { FoldedViews, Page, Views } from '../../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Table } from '../../../ui/table.tsx'
import { useManualActions } from './manual.tsx'
import { Filters } from './filters.tsx'
import { HoldsBanner } from './holds-banner.tsx'
import { columnsOf } from './columns.tsx'
import { ListMenu, SelectedDeliveries } from './selected.tsx'
import { NoDeliveries } from './no-deliveries.tsx'
import { DeliveryPanel } from './panel.tsx'
import { ReplayMany } from './replay-many.tsx'
import { Ongoing } from './replays-ongoing.tsx'
import { boundsOf, isFiltered, readDeliveries, VIEWS, type DeliveriesSearch } from './search.ts'

const PAGE_ROWS = 100
const timeOf = ({ created_at }: { readonly created_at: string }): string => created_at
const EMPTY: readonly ListedDelivery[] = []

/** Deliveries: one record for one destination each, with all their attempts. */
export function Screen(): ReactElement {
  const [search, setSearch] = useSearchState<DeliveriesSearch>()
  const list = useDeliveries(search)
  const rows = useLiveStates(list.rows, search)
  const destinations = useDestinations()
  const isOpen = search.sel !== undefined
  const States = isOpen ? FoldedViews : Views
  const columns = useMemo(() => columnsOf(destinations.nameOf, isOpen), [destinations.nameOf, isOpen])
  const here = rows.findIndex(({ id }) => id === search.sel)
  const step = (by: number): void => {
    const to = rows[Math.max(0, Math.min(rows.length - 1, here + by))]
    if (to !== undefined) setSearch({ sel: to.id })
  }
  const selected = here < 0 ? undefined : rows[here]
  const manual = useManualActions()
  const marks = useMarks(useMemo(() => rows.map(({ id }) => id), [rows]))
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Escape: () => (search.sel === undefined ? marks.clear() : setSearch({ sel: undefined })),
    x: () => selected !== undefined && marks.toggle(selected.id),
    'shift x': () => selected !== undefined && marks.extend(selected.id),
  })
  return (
    <div
      className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${isOpen ? 'grid-cols-[minmax(380px,1fr)_minmax(0,500px)] max-lg:grid-cols-1' : 'grid-cols-1'}`}
    >
      <div className={`min-h-0 min-w-0 ${isOpen ? 'max-lg:hidden' : ''}`}>
        <Page
          title="Deliveries"
          beside={
            <States
              label="State"
              of={VIEWS}
              at={VIEWS.find(({ id }) => id === search.state)?.id ?? ''}
              go={(state) => setSearch({ state: state === '' ? undefined : state, sel: undefined })}
            />
          }
          actions={
            <>
              <ListMenu search={search} />
              <span className={isOpen ? 'max-xl:hidden' : ''}>
                <ReplayMany search={search} nameOf={destinations.nameOf} />
              </span>
            </>
          }
          foot={
            <>
              <span>
                {list.isKnown && `${list.more ? 'The newest ' : ''}${counted(rows.length, 'delivery', 'deliveries')}`}
              </span>
              <span className="ml-auto flex items-center gap-1 max-md:hidden">
                <Kbd>J</Kbd>
                <Kbd>K</Kbd> move <Kbd>R</Kbd> replay <Kbd>X</Kbd> select <Kbd>?</Kbd> shortcuts
              </span>
            </>
          }
        >
          <Filters search={search} change={setSearch} />
          <HoldsBanner destination={search.destination} />
          <Ongoing />
          {list.staleSince !== undefined && <Stale since={list.staleSince} error={list.error} again={list.again} />}
          <SelectedDeliveries marks={marks} rows={rows} nameOf={destinations.nameOf} />
          <Body list={list} rows={rows} search={search}>
            <Table
              label="Deliveries"
              columns={columns}
              rows={rows}
              timeOf={timeOf}
              idOf={({ id }) => id}
              at={search.sel}
              onGo={({ id }) => setSearch({ sel: id })}
              onEnd={list.loadMore}
              marks={marks}
            />
          </Body>
        </Page>
      </div>
      {search.sel !== undefined && (
        <DeliveryPanel
          key={search.sel}
          id={search.sel}
          onClose={() => setSearch({ sel: undefined })}
          manual={manual}
          nameOf={destinations.nameOf}
        />
      )}
    </div>
  )
}

function Body({
  list,
  rows,
  search,
  children,
}: {
  readonly list: ReturnType<typeof useDeliveries>
  readonly rows: readonly ListedDelivery[]
  readonly search: DeliveriesSearch
  readonly children: ReactElement
}): ReactElement {
  const go = useGo()
  if (list.error !== null && list.staleSince === undefined) return <Refused error={list.error} again={list.again} />
  if (list.isLoading) return <Loading />
  if (rows.length > 0) return children
  if (isFiltered(search))
    return (
      <Empty
        title="No delivery matches"
        actions={<Button onClick={() => go('deliveries')}>Show all deliveries</Button>}
      >
        {search.state === undefined
          ? 'No deliveries match these filters.'
          : `No deliveries are ${wordOf(search.state)} right now.`}
      </Empty>
    )
  return <NoDeliveries />
}

/** The pages that were read, newest first. */
function useDeliveries({ sel: _sel, ...search }: DeliveriesSearch) {
  const client = useClient()
  const { project } = usePlace()
  const query = useInfiniteQuery({
    queryKey: [project.id, 'deliveries', 'list', search],
    queryFn: ({ pageParam, signal }) =>
      readDeliveries(client, { search, ...boundsOf(search), limit: PAGE_ROWS, cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined, // oxlint-disable-line typescript/no-unsafe-type-assertion -- the first page has no cursor
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: readsEvery(10_000),
  })
  const rows = useMemo(() => query.data?.pages.flatMap(({ deliveries }) => deliveries) ?? EMPTY, [query.data])
  return {
    rows,
    isKnown: query.data !== undefined,
    isLoading: query.isPending,
    error: query.error,
    staleSince: query.error !== null && query.data !== undefined ? query.dataUpdatedAt : undefined,
    more: query.hasNextPage,
    again: query.refetch,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage()
    },
  }
}

/** The rows with the updates of the live tail. A row whose state no longer matches leaves the list at the next read. */
function useLiveStates(rows: readonly ListedDelivery[], { state }: DeliveriesSearch): readonly ListedDelivery[] {
  const tail = useTail()
  if (state !== undefined && state !== '') return rows
  return rows.map((row) => {
    const seen = tail.deliveries.get(row.record_id)?.get(row.destination_id)
    return seen !== undefined && seen.id === row.id && seen.updated_at > row.updated_at
      ? { ...tail.withHold(seen), event: row.event }
      : row
  })
}
