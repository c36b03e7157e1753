import { Ellipsis } from 'lucide-react'
import { useMemo, type ReactElement } from 'react'
import { useAsk } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import { useWebhooks } from '../../data/names.ts'
import { usePlace } from '../../data/place.ts'
import type { Search } from '../../data/search-text.ts'
import type { Rejection } from '../../data/tail.ts'
import { Ago } from '../../parts/ago.tsx'
import { adminCurl } from '../../parts/commands.ts'
import { counted } from '../../parts/text-list.ts'
import { useKeys } from '../../shell/keys.ts'
import { Button, Kbd } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.tsx'
import { Glyph } from '../../ui/glyph.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Page, Views } from '../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../ui/states.tsx'
import { Table, TwoLines, type Column } from '../../ui/table.tsx'
import { CAUSES, groupsOf, type Group } from './causes.ts'
import { CausePanel } from './cause-panel.tsx'

type RejectionsSearch = Search & { readonly range?: string; readonly webhook?: string; readonly sel?: string }

const RANGES = [
  { id: '1h', label: '1 hour', hours: 1 },
  { id: '', label: '24 hours', hours: 24 },
  { id: '7d', label: '7 days', hours: 168 },
  { id: '30d', label: '30 days', hours: 720 },
] as const
const ROWS_MAX = 1_000
const POLL_MS = 10_000
const HOUR_MS = 3_600_000

const STATE: Column<Group> = { id: 'state', label: 'State', width: '18px', hidden: true, cell: () => <Glyph standing="rejected" /> }
const CAUSE: Column<Group> = { id: 'cause', label: 'Cause', width: 'minmax(180px,1.5fr)', cell: ({ id }) => <TwoLines top={CAUSES[id].title} below={CAUSES[id].text} /> }
const COUNT: Column<Group> = { id: 'count', label: 'Requests', width: '76px', align: 'right', cell: ({ count }) => <span className="mono text-data">{count.toLocaleString('en')}</span> }

const STATUS: Column<Group> = { id: 'status', label: 'Answered', width: '76px', cell: ({ status }) => <span className="mono text-data text-fail">{status}</span> }
const LAST: Column<Group> = { id: 'last', label: 'Last', width: '108px', align: 'right', cell: ({ lastAt }) => <span className="text-ink-3"><Ago at={lastAt} /></span> }
const SLIM = [STATE, CAUSE, COUNT]

function whereOf(nameOf: (id: string) => string): Column<Group> {
  const names = (rows: Group['rows']): string => [...new Set(rows.map(({ webhook_id }) => (webhook_id === null ? 'an ingest key' : nameOf(webhook_id))))].join(', ')
  return { id: 'where', label: 'Where', width: 'minmax(120px,1fr)', cell: ({ rows }) => <span className="block truncate text-ink-2">{names(rows)}</span> }
}

/** Rejections: what was refused, by cause, with what to do about it. */
export function Screen(): ReactElement {
  const [search, setSearch] = useSearchState<RejectionsSearch>()
  const webhooks = useWebhooks()
  const asked = useRejections(search)
  const groups = useMemo(() => groupsOf(asked.data ?? []), [asked.data])
  const here = groups.findIndex(({ id }) => id === search.sel)
  const step = (by: number): void => {
    const to = groups[Math.max(0, Math.min(groups.length - 1, here + by))]
    if (to !== undefined) setSearch({ sel: to.id })
  }
  const close = (): void => setSearch({ sel: undefined })
  const group = here < 0 ? undefined : groups[here]
  useKeys({ j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), Escape: close })
  const isOpen = search.sel !== undefined
  const columns = isOpen ? SLIM : [STATE, CAUSE, whereOf(webhooks.nameOf), STATUS, COUNT, LAST]
  return (
    <div className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${isOpen ? 'grid-cols-[minmax(0,1fr)_minmax(0,560px)] max-lg:grid-cols-1' : 'grid-cols-1'}`}>
      <div className={`min-h-0 min-w-0 ${isOpen ? 'max-lg:hidden' : ''}`}>
        <Page
          title="Rejections"
          beside={<Views label="Range" of={RANGES} at={RANGES.find(({ id }) => id === search.range)?.id ?? ''} go={(range) => setSearch({ range: range === '' ? undefined : range })} />}
          actions={<Actions search={search} setSearch={setSearch} />}
          foot={<><span>{counted(groups.reduce((sum, { count }) => sum + count, 0), 'request')} refused{(asked.data?.length ?? 0) >= ROWS_MAX ? ', and more before' : ''}</span><span className="ml-auto flex items-center gap-1 max-md:hidden"><Kbd>j</Kbd><Kbd>k</Kbd> move <Kbd>?</Kbd></span></>}
        >
          {asked.error !== null && asked.data !== undefined && <Stale since={asked.dataUpdatedAt} again={asked.refetch} />}
          {asked.data === undefined && (asked.error === null ? <Loading height={48} /> : <Refused error={asked.error} again={asked.refetch} />)}
          {asked.data !== undefined && groups.length === 0 && <Nothing isFiltered={search.webhook !== undefined || search.range !== undefined} clear={() => setSearch({ webhook: undefined, range: undefined })} />}
          {groups.length > 0 && <Table label="Rejections" columns={columns} rows={groups} idOf={({ id }) => id} at={search.sel} onGo={({ id }) => setSearch({ sel: id })} rowHeight={48} />}
        </Page>
      </div>
      {isOpen && (group === undefined ? <NoSuch isLoading={asked.data === undefined} close={close} /> : <CausePanel key={group.id} group={group} onClose={close} />)}
    </div>
  )
}

type ActionsProps = { readonly search: RejectionsSearch; readonly setSearch: (change: Partial<RejectionsSearch>) => void }

function Actions({ search: { webhook }, setSearch }: ActionsProps): ReactElement {
  const { project } = usePlace()
  const { all, nameOf } = useWebhooks()
  const copy = useCopy()
  const choices = all.map(({ id, name }) => ({ label: name, hint: id === webhook ? '✓' : '', go: () => setSearch({ webhook: id }) }))
  return (
    <>
      <Menu align="end" className="flex h-7 items-center rounded-button border border-line-2 px-2.5 font-control whitespace-nowrap hover:bg-sunken" items={[{ label: 'Every endpoint', go: () => setSearch({ webhook: undefined }) }, 'line', ...choices]}>
        {webhook === undefined ? 'Every endpoint' : nameOf(webhook)}
      </Menu>
      <Menu align="end" label="More" className="grid size-7 place-items-center rounded-button text-ink-3 hover:bg-hover hover:text-ink" items={[{ label: 'Copy the list as curl', go: () => void copy(adminCurl({ project, path: webhook === undefined ? 'rejections' : `rejections?webhook_id=${webhook}` }), 'Command copied') }]}>
        <Ellipsis className="size-4" strokeWidth={1.5} aria-hidden />
      </Menu>
    </>
  )
}

function NoSuch({ isLoading, close }: { readonly isLoading: boolean; readonly close: () => void }): ReactElement {
  return (
    <section aria-label="Cause" className="border-l border-line">
      {isLoading ? <Loading rows={6} /> : <Empty title="Nothing was refused for this" actions={<Button onClick={close}>Back to the list</Button>}>Not in this range of time.</Empty>}
    </section>
  )
}

/** The newest rows of the rejection log in the range that is shown. */
function useRejections({ range, webhook }: RejectionsSearch) {
  const { hours } = RANGES.find(({ id }) => id === range) ?? RANGES[1]
  return useAsk(
    ['rejections', 'newest', webhook, hours],
    async (client, signal) => {
      const from = new Date(Date.now() - hours * HOUR_MS).toISOString()
      const rows: Rejection[] = []
      for await (const row of client.rejections.list({ limit: 200, webhook_id: webhook, from }, { signal })) {
        rows.push(row)
        if (rows.length >= ROWS_MAX) break
      }
      return rows
    },
    { everyMs: POLL_MS, keep: true },
  )
}

function Nothing({ isFiltered, clear }: { readonly isFiltered: boolean; readonly clear: () => void }): ReactElement {
  if (isFiltered) return <Empty title="Nothing was refused here" actions={<Button onClick={clear}>Show every endpoint, 24 hours</Button>}>Not at this endpoint, or not in this range of time.</Empty>
  return <Empty title="Nothing was refused">No request of the last 24 hours. What is refused stands here by its cause, with what to do about it.</Empty>
}
