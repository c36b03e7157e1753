import { ArrowUp } from 'lucide-react'
import { useMemo, useState, type ReactElement } from 'react'
import { useGo, useSearchState } from '../../data/go.tsx'
import { useWebhooks } from '../../data/names.ts'
import { useKeys } from '../../shell/keys.ts'
import { useCommands } from '../../shell/palette-provider.tsx'
import { Button, Kbd } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { columnsOf } from './columns.tsx'
import { FirstRun } from './first-run.tsx'
import { Histogram } from './histogram.tsx'
import { Inspector } from './inspector.tsx'
import { LiveButton } from './live-button.tsx'
import { RejectionPanel } from './rejection-panel.tsx'
import type { EventRow } from './rows.ts'
import { isFiltered, matcher, rangeOf, type EventsSearch } from './search.ts'
import { SendDialog, type Draft } from './send-dialog.tsx'
import { Toolbar } from './toolbar.tsx'
import { useEvents } from './use-events.ts'
import { usePaths } from './use-paths.ts'
import { ViewTabs } from './view-tabs.tsx'

/** Events as they come: the live tail, what is stored, and the whole path of any of them. */
export function Screen(): ReactElement {
  const [search, change] = useSearchState<EventsSearch>()
  const [isScrolled, setScrolled] = useState(false)
  const [skipped, setSkipped] = useState(false)
  const [draft, setDraft] = useState<Draft | undefined>()
  const fromMs = useFrom(search)
  const [released, setReleased] = useState(0)
  const events = useEvents({ fromMs, held: search.sel !== undefined || isScrolled, released })
  const rows = useShown(events.rows, search, { tail: events.tail, fromMs })
  const cursor = useCursor(rows, search, change)
  useScreenKeys({ change, cursor, release: () => setReleased((count) => count + 1), tail: events.tail })
  useCommands(useMemo(() => [{ label: 'Send an event', go: () => setDraft({ body: '', webhookId: null }) }], []))
  const paths = usePaths(events.rows)
  const nothingEver = !events.isLoading && events.error === null && events.rows.length === 0 && !isFiltered(search) && search.sel === undefined && (search.range ?? '') === ''
  if (nothingEver && !skipped) return <FirstRun isListening={events.tail.status === 'live'} onSkip={() => setSkipped(true)} />
  const selected = search.sel
  return (
    <div className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${selected === undefined || search.full !== undefined ? 'grid-cols-1' : 'grid-cols-[minmax(0,1fr)_500px] max-lg:grid-cols-1'}`}>
      <div className={`min-h-0 min-w-0 ${selected === undefined ? '' : search.full === undefined ? 'max-lg:hidden' : 'hidden'}`}>
        <Page
          title="Events"
          beside={<ViewTabs search={search} />}
          actions={<><LiveButton tail={events.tail} /><Button onClick={() => setDraft({ body: '', webhookId: null })}>Send event</Button></>}
          foot={<Foot rows={rows} all={events.rows} events={events} />}
        >
          <Toolbar search={search} change={change} paths={paths} />
          <Histogram rows={rows} tail={events.tail} ms={rangeOf(search).ms} />
          {events.tail.status === 'lost' && events.tail.lostAt !== undefined && <Stale since={events.tail.lostAt} again={() => events.tail.reconnect()} />}
          <List events={events} rows={rows} search={search} cursor={cursor} onScrolled={setScrolled} onRelease={() => setReleased((count) => count + 1)} />
        </Page>
      </div>
      {selected !== undefined && <Side id={selected} events={events} search={search} change={change} onStep={cursor.step} onResend={(body, webhookId) => setDraft({ body, webhookId })} />}
      {draft !== undefined && <SendDialog draft={draft} onClose={() => setDraft(undefined)} onSent={(id) => change({ sel: id })} />}
    </div>
  )
}

type Events = ReturnType<typeof useEvents>
type Cursor = { readonly step: (by: number) => void; readonly go: (row: EventRow) => void; readonly here: EventRow | undefined }
type Change = (change: Partial<EventsSearch>) => void

/** The start of the range, kept for as long as the range stays the same: a moving start would read everything anew. */
function useFrom(search: EventsSearch): number | undefined {
  const { ms } = rangeOf(search)
  const [from, setFrom] = useState({ ms, at: startOf(ms) })
  if (from.ms !== ms) setFrom({ ms, at: startOf(ms) })
  return from.at
}

function startOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Date.now() - ms
}

function useShown(rows: readonly EventRow[], search: EventsSearch, { tail, fromMs }: { readonly tail: Events['tail']; readonly fromMs: number | undefined }): readonly EventRow[] {
  const { view, f, q, dataset } = search
  const fits = useMemo(() => matcher({ f, q, dataset }, tail), [f, q, dataset, tail])
  const fitting = useMemo(() => rows.filter((row) => (fromMs === undefined || Date.parse(row.at) >= fromMs) && fits(row)), [rows, fits, fromMs])
  // What is failing changes with every delivery that the tail brings; the rest only with the rows.
  return view === undefined || view === '' ? fitting : fitting.filter(matcher({ view }, tail))
}

function useCursor(rows: readonly EventRow[], { sel }: EventsSearch, change: Change): Cursor {
  const at = rows.findIndex(({ id }) => id === sel)
  const go = (row: EventRow): void => {
    if (row.kind !== 'gap') change({ sel: row.id })
  }
  return {
    here: rows[at],
    go,
    step: (by) => {
      const to = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
      if (to !== undefined) go(to)
    },
  }
}

function useScreenKeys({ change, cursor, release, tail }: { readonly change: Change; readonly cursor: Cursor; readonly release: () => void; readonly tail: Events['tail'] }): void {
  useKeys({
    j: () => cursor.step(1),
    k: () => cursor.step(-1),
    ArrowDown: () => cursor.step(1),
    ArrowUp: () => cursor.step(-1),
    Escape: () => change({ sel: undefined, full: undefined }),
    '.': release,
    l: () => (tail.status === 'off' ? tail.open() : tail.close()),
  })
}

type ListProps = { readonly events: Events; readonly rows: readonly EventRow[]; readonly search: EventsSearch; readonly cursor: Cursor; readonly onScrolled: (isScrolled: boolean) => void; readonly onRelease: () => void }

function List({ events, rows, search, cursor, onScrolled, onRelease }: ListProps): ReactElement {
  const { nameOf } = useWebhooks()
  const columns = useMemo(() => columnsOf(events.tail, nameOf), [events.tail, nameOf])
  const go = useGo()
  if (events.error !== null && events.rows.length === 0) return <Refused error={events.error} again={events.again} />
  if (events.isLoading) return <Loading />
  if (rows.length === 0) {
    return (
      <Empty
        title={events.rows.length === 0 ? 'Nothing came in this time' : `0 of ${events.rows.length.toLocaleString('en')} loaded events match`}
        actions={<>{events.more && <Button disabled={events.isLoadingMore} onClick={events.loadMore}>Look further back</Button>}<Button onClick={() => go('events')}>Clear the filter</Button></>}
      >
        {events.more ? 'There are older events that were not looked at yet.' : 'The filter stands in the address, so a link to it can be shared.'}
      </Empty>
    )
  }
  return (
    <Table
      label="Events"
      columns={columns}
      rows={rows}
      idOf={({ id }) => id}
      at={search.sel}
      onGo={cursor.go}
      onScroll={(top) => onScrolled(top > 4)}
      onEnd={events.loadMore}
      strip={
        events.heldBack > 0 && (
          <button type="button" onClick={onRelease} className="flex h-7 flex-none items-center justify-center gap-1.5 border-b border-line bg-sunken text-data font-control text-accent hover:bg-accent-soft">
            <ArrowUp className="size-[13px]" strokeWidth={1.5} aria-hidden />
            {events.heldBack.toLocaleString('en')} newer {events.heldBack === 1 ? 'event' : 'events'}, held while you read <Kbd>.</Kbd>
          </button>
        )
      }
    />
  )
}

function Side({ id, events, ...rest }: Parameters<typeof Inspector>[0] & { readonly events: Events }): ReactElement {
  const row = events.rows.find((one) => one.id === id)
  if (row?.kind === 'rejection') return <RejectionPanel rejection={row.rejection} onClose={() => rest.change({ sel: undefined, full: undefined })} />
  return <Inspector key={id} id={id} {...rest} />
}

function Foot({ rows, all, events }: { readonly rows: readonly EventRow[]; readonly all: readonly EventRow[]; readonly events: Events }): ReactElement {
  const count = rows.length.toLocaleString('en')
  return (
    <>
      <span aria-live="polite"><b className="font-strong text-ink-2">{count}</b>{rows.length === all.length ? '' : ` of ${all.length.toLocaleString('en')}`} events{events.more ? ' loaded' : ''}</span>
      {events.tail.oneIn > 1 && <span className="text-retry-text">showing 1 in {events.tail.oneIn}, all are stored</span>}
      {events.isLoadingMore && <span>reading older ones…</span>}
      <span className="ml-auto flex items-center gap-1 max-xl:hidden"><Kbd>J</Kbd><Kbd>K</Kbd> move <Kbd>R</Kbd> replay <Kbd>C</Kbd> curl <Kbd>?</Kbd></span>
    </>
  )
}
