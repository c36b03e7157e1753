import { routes } from '@postroad/contract'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Search as SearchIcon } from 'lucide-react'
import { useMemo, useRef, type ReactElement, type RefObject } from 'react'
import { readsEvery } from '../../../data/ask.ts'
import { useSearchState } from '../../../data/go.tsx'
import { useClient, usePlace } from '../../../data/place.ts'
import type { Search } from '../../../data/search-text.ts'
import { FilterMenu } from '../../../parts/filter-menu.tsx'
import { planText } from '../../../parts/plan-text.ts'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { useSettled } from '../../../parts/settled.ts'
import { counted } from '../../../parts/text-list.ts'
import { useKeys } from '../../../shell/keys.ts'
import { Kbd } from '../../../ui/button.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Page } from '../../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Table, TwoLines, type Column } from '../../../ui/table.tsx'
import type { AreaProps } from './area.tsx'
import { TONES, usedText, type PlatformWorkspace } from './platform-workspace.ts'
import { WorkspacePanel } from './workspace-panel.tsx'

type AreaSearch = Search & { readonly q?: string; readonly view?: string; readonly sel?: string }

const PAGE = 100
const EVERY_MS = 15_000
const STATES = ['active', 'suspended', 'closed'] as const

const STATE: Column<PlatformWorkspace> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: ({ state }) => <Glyph tone={TONES[state]} label={state} />,
}
const NAME: Column<PlatformWorkspace> = {
  id: 'name',
  label: 'Workspace',
  width: 'minmax(150px,1.3fr)',
  plain: true,
  cell: ({ name, slug }) => <TwoLines top={name} below={<span className="mono">{slug}</span>} />,
}
const COLUMNS: readonly Column<PlatformWorkspace>[] = [
  STATE,
  NAME,
  {
    id: 'plan',
    label: 'Plan',
    width: '96px',
    cell: ({ plan }) => <span className="block truncate">{planText(plan)}</span>,
  },
  {
    id: 'events',
    label: 'Events this month',
    width: 'minmax(120px,1fr)',
    align: 'right',
    cell: ({ usage: { events, max_events } }) => (
      <span className={`mono text-data ${max_events !== null && events >= max_events ? 'text-fail' : 'text-ink-2'}`}>
        {usedText(events, max_events)}
      </span>
    ),
  },
  {
    id: 'stored',
    label: 'Stored events',
    width: '104px',
    align: 'right',
    cell: ({ retained_events }) => (
      <span className="mono text-data text-ink-2">{retained_events.toLocaleString('en')}</span>
    ),
  },
  {
    id: 'members',
    label: 'Members',
    width: '70px',
    align: 'right',
    cell: ({ members }) => <span className="mono text-data text-ink-2">{members}</span>,
  },
  {
    id: 'word',
    label: 'State',
    width: '84px',
    align: 'right',
    cell: ({ state }) => <span className={state === 'suspended' ? 'text-fail' : 'text-ink-3'}>{state}</span>,
  },
]
const SLIM = [STATE, NAME]
const NONE: readonly PlatformWorkspace[] = []

/** Every workspace of the installation with its usage; one of them beside the list. */
export function WorkspacesArea({ views }: AreaProps): ReactElement {
  const [search, setSearch] = useSearchState<AreaSearch>()
  const filter = useFilter(search)
  const field = useRef<HTMLInputElement>(null)
  const asked = useWorkspaces(filter)
  const rows = asked.rows ?? NONE
  const selected = rows.find(({ id }) => id === search.sel)
  const isOpen = selected !== undefined
  const here = rows.findIndex(({ id }) => id === search.sel)
  const step = (by: number): void => {
    const to = rows[Math.max(0, Math.min(rows.length - 1, here + by))]
    if (to !== undefined) setSearch({ sel: to.id })
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Escape: () => setSearch({ sel: undefined }),
    '/': () => field.current?.focus(),
  })
  return (
    <div
      className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${isOpen ? 'grid-cols-[minmax(0,280px)_minmax(0,1fr)] max-lg:grid-cols-1' : 'grid-cols-1'}`}
    >
      <div className={`min-h-0 min-w-0 ${isOpen ? 'max-lg:hidden' : ''}`}>
        <Page
          title="Operators"
          beside={views}
          actions={!isOpen && <Narrowing search={search} filter={filter} change={setSearch} field={field} />}
          foot={
            asked.rows !== undefined && (
              <span>
                {counted(rows.length, 'workspace')}
                {asked.hasNextPage && ', more below'}
              </span>
            )
          }
        >
          {asked.error !== null && asked.rows !== undefined && (
            <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
          )}
          {asked.rows === undefined ? (
            asked.error === null ? (
              <Loading height={48} />
            ) : (
              <Refused error={asked.error} again={asked.refetch} />
            )
          ) : rows.length === 0 ? (
            <Empty title="No workspaces match">Change the search or the state.</Empty>
          ) : (
            <Table
              label="Workspaces"
              columns={isOpen ? SLIM : COLUMNS}
              rows={rows}
              idOf={({ id }) => id}
              at={search.sel}
              onGo={({ id }) => setSearch({ sel: id })}
              rowHeight={48}
              onEnd={() => {
                if (asked.hasNextPage && !asked.isFetching) void asked.fetchNextPage()
              }}
            />
          )}
        </Page>
      </div>
      {selected !== undefined && (
        <WorkspacePanel key={selected.id} of={selected} onClose={() => setSearch({ sel: undefined })} />
      )}
    </div>
  )
}

type Filter = { readonly q?: string; readonly state?: (typeof STATES)[number] }

/** The filter of the API; a text counts once the person has stopped typing. */
function useFilter({ q: typed = '', view }: AreaSearch): Filter {
  const q = useSettled(typed)
  const state = STATES.find((one) => one === view)
  return { ...(q === '' ? {} : { q }), ...(state === undefined ? {} : { state }) }
}

/** The fields that narrow the list, and the list as commands. */
function Narrowing({
  search,
  filter: { q, state },
  change,
  field,
}: {
  readonly search: AreaSearch
  readonly filter: Filter
  readonly change: (part: Partial<AreaSearch>) => void
  readonly field: RefObject<HTMLInputElement | null>
}): ReactElement {
  const items = useCopyItemsOf()
  return (
    <>
      <label className="flex h-7 w-44 items-center gap-2 rounded-button border border-line-2 bg-surface px-2 text-ink-3 focus-within:border-accent">
        <SearchIcon className="size-3.5 flex-none" strokeWidth={1.5} aria-hidden />
        <input
          ref={field}
          aria-label="Search workspaces"
          placeholder="Name or slug"
          value={search.q ?? ''}
          onChange={({ target }) => change({ q: target.value === '' ? undefined : target.value })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
          className="min-w-0 flex-1 bg-transparent text-ink outline-none"
        />
        <Kbd>/</Kbd>
      </label>
      <FilterMenu
        label="State"
        every="All states"
        of={STATES.map((id) => ({ id, name: `${id.charAt(0).toUpperCase()}${id.slice(1)}` }))}
        at={state}
        go={(view) => change({ view })}
      />
      <MoreMenu items={items({ route: routes.platformWorkspaces.list, query: { q, state } })} />
    </>
  )
}

function useWorkspaces(filter: Filter) {
  const client = useClient()
  const { project } = usePlace()
  const query = useInfiniteQuery({
    queryKey: [project.id, 'platformWorkspaces', filter],
    queryFn: ({ pageParam, signal }) =>
      client.platformWorkspaces.list(
        { ...filter, limit: PAGE, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: readsEvery(EVERY_MS),
  })
  const rows = useMemo(() => query.data?.pages.flatMap(({ workspaces }) => workspaces), [query.data])
  return { ...query, rows }
}
