import type { Client } from '@postroad/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, type ComponentType, type ReactElement, type ReactNode } from 'react'
import { readsEvery } from '../data/ask.ts'
import { useSearchState } from '../data/go.tsx'
import { useClient, usePlace } from '../data/place.ts'
import type { Search } from '../data/search-text.ts'
import { useKeys } from '../shell/keys.ts'
import { Button, Kbd } from '../ui/button.tsx'
import { MoreMenu } from '../ui/menu.tsx'
import { FoldedViews, Page, Views } from '../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../ui/states.tsx'
import { Table, type Column } from '../ui/table.tsx'
import { useCopyItems, type CopiedCall } from './copy-as.tsx'
import { counted } from './text-list.ts'

const PAGE_ROWS = 100
const LIVE_MS = 5_000

export type PagedSearch = Search & { readonly view?: string; readonly sel?: string }
type Row = { readonly id: string; readonly created_at: string }
type AskedPage<R> = { readonly rows: readonly R[]; readonly next_cursor: string | null }

type Props<R extends Row> = {
  readonly title: string
  readonly one: string
  /** The room and the filters of the list: another value reads another list. */
  readonly listKey: readonly unknown[]
  readonly read: (
    client: Client,
    page: { readonly limit: number; readonly cursor: string | undefined; readonly signal: AbortSignal },
  ) => Promise<AskedPage<R>>
  readonly columns: readonly Column<R>[]
  readonly slim: readonly Column<R>[]
  readonly views: readonly { readonly id: string; readonly label: string }[]
  /** More filters, beside the views. */
  readonly filters?: ReactNode
  readonly isFiltered: boolean
  /** The list as a call to copy. */
  readonly call: CopiedCall
  readonly actions?: ReactNode
  readonly never: { readonly title: string; readonly text: ReactNode; readonly action?: ReactNode }
  readonly panel: ComponentType<{ readonly id: string; readonly onClose: () => void }>
}

/** A list of runs, newest first, read page by page; the open one is beside it. */
export function PagedScreen<R extends Row>(props: Props<R>): ReactElement {
  const { title, one, views, filters, columns, slim, call, actions, panel: Panel } = props
  const [search, setSearch] = useSearchState<PagedSearch>()
  const list = usePages(props)
  const { rows } = list
  const isOpen = search.sel !== undefined
  const open = (sel: string | undefined): void => setSearch({ sel })
  const here = rows.findIndex(({ id }) => id === search.sel)
  const step = (by: number): void => {
    const to = rows[Math.max(0, Math.min(rows.length - 1, here + by))]
    if (to !== undefined) open(to.id)
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Escape: () => open(undefined),
  })
  const Shown = isOpen ? FoldedViews : Views
  return (
    <div
      className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${isOpen ? 'grid-cols-[minmax(0,300px)_minmax(0,1fr)] max-lg:grid-cols-1' : 'grid-cols-1'}`}
    >
      <div className={`min-h-0 min-w-0 ${isOpen ? 'max-lg:hidden' : ''}`}>
        <Page
          title={title}
          beside={
            <Shown
              label="State"
              of={views}
              at={views.find(({ id }) => id === search.view)?.id ?? ''}
              go={(view) => setSearch({ view: view === '' ? undefined : view, sel: undefined })}
            />
          }
          actions={
            <>
              {!isOpen && filters}
              <MoreMenu items={useCopyItems(call, 'the list')} />
              {!isOpen && actions}
            </>
          }
          foot={
            <>
              <span>{list.isKnown && `${list.more ? 'The newest ' : ''}${counted(rows.length, one)}`}</span>
              {!isOpen && (
                <span className="ml-auto flex items-center gap-1 max-md:hidden">
                  <Kbd>J</Kbd>
                  <Kbd>K</Kbd> move <Kbd>?</Kbd> shortcuts
                </span>
              )}
            </>
          }
        >
          {list.staleSince !== undefined && <Stale since={list.staleSince} error={list.error} again={list.again} />}
          <Body {...props} list={list}>
            <Table
              label={title}
              columns={isOpen ? slim : columns}
              rows={rows}
              timeOf={timeOf}
              idOf={({ id }) => id}
              at={search.sel}
              onGo={({ id }) => open(id)}
              onEnd={list.loadMore}
              rowHeight={48}
            />
          </Body>
        </Page>
      </div>
      {search.sel !== undefined && <Panel key={search.sel} id={search.sel} onClose={() => open(undefined)} />}
    </div>
  )
}

const timeOf = ({ created_at }: { readonly created_at: string }): string => created_at

function Body<R extends Row>({
  list,
  isFiltered,
  never,
  one,
  children,
}: Props<R> & { readonly list: ReturnType<typeof usePages<R>>; readonly children: ReactElement }): ReactElement {
  const [, setSearch] = useSearchState<Search>()
  if (list.error !== null && list.staleSince === undefined) return <Refused error={list.error} again={list.again} />
  if (list.isLoading) return <Loading height={48} />
  if (list.rows.length > 0) return children
  if (isFiltered)
    return (
      <Empty
        title={`No ${one} matches`}
        actions={
          <Button
            onClick={() =>
              setSearch({
                view: undefined,
                workflow: undefined,
                agent: undefined,
                trigger: undefined,
                record: undefined,
              })
            }
          >
            Show all {one}s
          </Button>
        }
      >
        Nothing matches this state and these filters.
      </Empty>
    )
  return (
    <Empty title={never.title} actions={never.action}>
      {never.text}
    </Empty>
  )
}

function usePages<R extends Row>({ listKey, read }: Props<R>) {
  const client = useClient()
  const { project } = usePlace()
  const query = useInfiniteQuery({
    queryKey: [project.id, ...listKey],
    queryFn: ({ pageParam, signal }) => read(client, { limit: PAGE_ROWS, cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined, // oxlint-disable-line typescript/no-unsafe-type-assertion -- the first page has no cursor
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: readsEvery(LIVE_MS),
  })
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data])
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
