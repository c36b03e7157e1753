import { lazy, type ReactElement, Suspense, useMemo, useState } from 'react'
import { useSearchState } from '../../../data/go.tsx'
import { useSavedViews } from '../../../data/saved-views.ts'
import { spanIn } from '../../../parts/span.ts'
import { ColumnsButton } from '../../../parts/columns-dialog.tsx'
import { useStoredColumns } from '../../../parts/stored-columns.ts'
import { useMarks, type Marks } from '../../../parts/marks.ts'
import { useKeys } from '../../../shell/keys.ts'
import { useCommands } from '../../../shell/palette-provider.tsx'
import { Button, Kbd } from '../../../ui/button.tsx'
import { Page } from '../../../ui/page.tsx'
import { loaded } from '../../../ui/loaded.ts'
import { Stale } from '../../../ui/states.tsx'
import { CHOICES, FIRST_COLUMNS, REJECTED_COLUMNS } from './columns.tsx'
import { Guide } from './guide.tsx'
import { Histogram } from './histogram.tsx'
import { Inspector } from './inspector.tsx'
import { fieldsIn, ListMenu } from './list-menu.tsx'
import { List } from './list.tsx'
import { useLanding } from './landing.ts'
import { LiveButton } from './live-button.tsx'
import { SelectedEvents } from './selected.tsx'
import type { EventRow } from './rows.ts'
import { asksForRecords, isAt, isFiltered, rangeOf, wantedOf, type EventsSearch } from './search.ts'
import type { Draft } from './send-dialog.tsx'
import { Toolbar } from './toolbar.tsx'
import { useEvents } from './use-events.ts'
import { usePaths } from './use-paths.ts'
import { ViewTabs } from './view-tabs.tsx'

// Few visits need these, so their code is loaded when they are shown.
const FirstRun = lazy(() => loaded(async () => ({ default: (await import('./first-run.tsx')).FirstRun })))
const SendDialog = lazy(() => loaded(async () => ({ default: (await import('./send-dialog.tsx')).SendDialog })))
const RejectionPanel = lazy(() =>
  loaded(async () => ({ default: (await import('./rejection-panel.tsx')).RejectionPanel })),
)

/** Events as they arrive: the live tail, the stored events, and the whole path of each. */
export function Screen(): ReactElement {
  const [search, change] = useSearchState<EventsSearch>()
  const [isScrolled, setScrolled] = useState(false)
  const [skipped, setSkipped] = useState(false)
  const [draft, setDraft] = useState<Draft | undefined>()
  const fromMs = useFrom(search)
  const [released, setReleased] = useState(0)
  const events = useEvents({ wanted: wantedOf(search, fromMs), held: search.sel !== undefined || isScrolled, released })
  const { rows } = events
  const cursor = useCursor(rows, search, change)
  useCommands(useMemo(() => [{ label: 'Send an event', go: () => setDraft(EMPTY_DRAFT) }], []))
  const paths = usePaths(rows)
  const marks = useMarks(useMemo(() => rows.flatMap(({ id, kind }) => (kind === 'gap' ? [] : [id])), [rows]))
  const columns = useColumns(search)
  useScreenKeys({ change, cursor, marks, release: () => setReleased((count) => count + 1), tail: events.tail })
  const landing = useLanding(
    !skipped && hasNothing(events) && isWide(search),
    rows.find(({ kind }) => kind !== 'gap')?.id,
    (sel) => change({ sel }),
  )
  if (landing === 'waiting' || landing === 'landing')
    return (
      <Suspense fallback={null}>
        <FirstRun
          isListening={events.tail.status === 'live'}
          hasArrived={landing === 'landing'}
          onSkip={() => setSkipped(true)}
        />
      </Suspense>
    )
  const selected = search.sel
  return (
    <div
      className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${selected === undefined || search.full !== undefined ? 'grid-cols-1' : 'grid-cols-[minmax(0,1fr)_500px] max-lg:grid-cols-1'}`}
    >
      <div
        className={`min-h-0 min-w-0 ${selected === undefined ? '' : search.full === undefined ? 'max-lg:hidden' : 'hidden'}`}
      >
        <Page
          title="Events"
          beside={<ViewTabs search={search} />}
          actions={
            <>
              <LiveButton tail={events.tail} />
              <ColumnsButton all={CHOICES} shown={columns.shown} change={columns.keep} paths={paths} />
              <ListMenu events={events} shown={columns.shown} />
              <Button onClick={() => setDraft(EMPTY_DRAFT)}>Send event</Button>
            </>
          }
          foot={<Foot events={events} />}
        >
          {!skipped && rows.length > 0 && <Guide onSend={() => setDraft(EMPTY_DRAFT)} />}
          <Toolbar search={search} change={change} paths={paths} refusal={events.refusal} />
          <Unsearched events={events} />
          <Histogram events={events} search={search} change={change} />
          {events.tail.status === 'lost' && events.tail.lostAt !== undefined && (
            <Stale since={events.tail.lostAt} again={() => events.tail.reconnect()} />
          )}
          <SelectedEvents marks={marks} rows={rows} paths={fieldsIn(columns.shown)} />
          <List
            events={events}
            marks={marks}
            shown={columns.shown}
            search={search}
            onGo={cursor.go}
            onScrolled={setScrolled}
            onRelease={() => setReleased((count) => count + 1)}
          />
        </Page>
      </div>
      {selected !== undefined && (
        <Side id={selected} events={events} search={search} change={change} onStep={cursor.step} onResend={setDraft} />
      )}
      {draft !== undefined && (
        <Suspense fallback={null}>
          <SendDialog draft={draft} onClose={() => setDraft(undefined)} onSent={(id) => change({ sel: id })} />
        </Suspense>
      )}
    </div>
  )
}

const EMPTY_DRAFT: Draft = { body: '', webhookId: null, query: '', headers: {} }

type Events = ReturnType<typeof useEvents>
type Cursor = {
  readonly step: (by: number) => void
  readonly go: (row: EventRow) => void
  readonly here: EventRow | undefined
}
type Change = (change: Partial<EventsSearch>) => void

function hasNothing({ isLoading, isAsking, error, rows }: Events): boolean {
  return !isLoading && !isAsking && error === null && rows.length === 0
}

/** Whether the address has no filter. */
function isWide(search: EventsSearch): boolean {
  return !isFiltered(search) && search.sel === undefined && (search.range ?? '') === '' && spanIn(search) === undefined
}

/** The start of the range, fixed while the range stays the same: a moving start would read everything again. */
function useFrom(search: EventsSearch): number | undefined {
  const { ms } = rangeOf(search)
  const [from, setFrom] = useState({ ms, at: startOf(ms) })
  if (from.ms !== ms) setFrom({ ms, at: startOf(ms) })
  return from.at
}

function startOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Date.now() - ms
}

/** The columns of the view that the address shows. */
function useColumns(search: EventsSearch): {
  readonly shown: readonly string[]
  readonly keep: (ids: readonly string[] | undefined) => void
} {
  const { views } = useSavedViews('events')
  const [kept, keep] = useStoredColumns(
    'events',
    views.find((view) => isAt(view.search, search))?.name ?? `:${search.view ?? ''}`,
  )
  return { shown: kept ?? (search.view === 'rejected' ? REJECTED_COLUMNS : FIRST_COLUMNS), keep }
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

function useScreenKeys({
  change,
  cursor,
  marks,
  release,
  tail,
}: {
  readonly change: Change
  readonly cursor: Cursor
  readonly marks: Marks
  readonly release: () => void
  readonly tail: Events['tail']
}): void {
  useKeys({
    j: () => cursor.step(1),
    k: () => cursor.step(-1),
    ArrowDown: () => cursor.step(1),
    ArrowUp: () => cursor.step(-1),
    // Escape goes back step by step: first the open event, then the selection.
    Escape: () => (cursor.here === undefined ? marks.clear() : change({ sel: undefined, full: undefined })),
    x: () => cursor.here !== undefined && marks.toggle(cursor.here.id),
    'shift x': () => cursor.here !== undefined && marks.extend(cursor.here.id),
    '.': release,
    l: () => (tail.status === 'off' ? tail.open() : tail.close()),
  })
}

function Side({ id, events, ...rest }: Parameters<typeof Inspector>[0] & { readonly events: Events }): ReactElement {
  const row = events.rows.find((one) => one.id === id)
  if (row?.kind === 'rejection')
    return (
      <Suspense fallback={null}>
        <RejectionPanel rejection={row.rejection} onClose={() => rest.change({ sel: undefined, full: undefined })} />
      </Suspense>
    )
  return <Inspector key={id} id={id} {...rest} />
}

/** The part that a search does not cover. */
function unsearchedText(wanted: Events['wanted'], unreadable: number): string {
  const without = asksForRecords(wanted)
    ? 'The search does not include rejected requests or requests without a dataset.'
    : 'The search does not include rejected requests, because Postroad stores only samples of them.'
  if (unreadable === 0) return without
  return `${without} ${unreadable.toLocaleString('en')} ${unreadable === 1 ? 'body' : 'bodies'} could not be read.`
}

/** Below the filter: the part that a search does not cover. */
function Unsearched({ events }: { readonly events: Events }): ReactElement | null {
  const { wanted, isNarrowed, unreadable, tail, refusal, refresh } = events
  if (!isNarrowed || wanted.view === 'rejected' || refusal !== null) return null
  return (
    <p className="mx-4 mt-1 text-data text-ink-3">
      {unsearchedText(wanted, unreadable)}
      {wanted.rule !== undefined && tail.status === 'live' && (
        <>
          {' '}
          New events are not checked against the rule.{' '}
          <button type="button" className="min-h-6 font-control text-accent underline" onClick={() => void refresh()}>
            Search again
          </button>
        </>
      )}
    </p>
  )
}

/** One row of rejected requests can count several requests. */
const nounOf = ({ view }: Events['wanted'], count: number): string =>
  `${view === 'rejected' ? 'row' : 'event'}${count === 1 ? '' : 's'}`

function Foot({ events }: { readonly events: Events }): ReactElement {
  const { rows, scanned, isNarrowed, more, tail, isLoadingMore, isLoading, error } = events
  // Before the first answer, nobody knows that there is none.
  const isUnknown = rows.length === 0 && (isLoading || error !== null)
  return (
    <>
      <span aria-live="polite">
        {!isUnknown && (
          <>
            <b className="font-strong text-ink-2">{rows.length.toLocaleString('en')}</b>{' '}
            {nounOf(events.wanted, rows.length)}
            {isNarrowed ? ` of ${Math.max(scanned, rows.length).toLocaleString('en')} searched` : more ? ' loaded' : ''}
          </>
        )}
      </span>
      {tail.oneIn > 1 && <span className="text-retry-text">showing 1 in {tail.oneIn}, all are stored</span>}
      {isLoadingMore && <span>loading older ones…</span>}
      <span className="ml-auto flex items-center gap-1 max-xl:hidden">
        <Kbd>J</Kbd>
        <Kbd>K</Kbd> move <Kbd>R</Kbd> replay <Kbd>C</Kbd> curl <Kbd>X</Kbd> select <Kbd>?</Kbd> shortcuts
      </span>
    </>
  )
}
