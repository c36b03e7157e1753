import type { RouteAnswer, Routes } from '@postroad/contract'
import { ChevronDown } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To, useSearchState } from '../../../data/go.tsx'
import { usePlace } from '../../../data/place.ts'
import type { Search } from '../../../data/search-text.ts'
import { addressOf, spanIn, type Span } from '../../../parts/span.ts'
import { Menu } from '../../../ui/menu.tsx'
import { dayText, momentText } from '../../../ui/moments.ts'
import { Page } from '../../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { span, took } from '../../../ui/time.tsx'
import { Bars } from './bars.tsx'
import { Busiest, Causes, Failing } from './lists.tsx'
import { MapPart } from './map/map-part.tsx'
import { useMap } from './map/use-map.ts'
import { DeliveryTimes, Waiting } from './times.tsx'

const RANGES = [
  { id: '1h', label: 'Last hour', ms: 3_600_000 },
  { id: '', label: 'Last 24 hours', ms: 86_400_000 },
  { id: '7d', label: 'Last 7 days', ms: 604_800_000 },
  { id: '30d', label: 'Last 30 days', ms: 2_592_000_000 },
] as const

type OverviewSearch = Search & { readonly range?: string; readonly from?: string; readonly to?: string }
type Summary = RouteAnswer<Routes['dashboard']['summary']>['summary']

const EVERY_MS = 15_000

/** A named range, which is shorter in a project that is younger than it. */
type Range = {
  readonly id: (typeof RANGES)[number]['id']
  readonly label: string
  /** The text of the part that has data. */
  readonly shown: string
  readonly ms: number
}
const YOUNGEST_MS = 900_000
const MINUTE_MS = 60_000

/** The age of the data in whole minutes, so that a range that shows all of it changes once a minute. */
function agedMs(began: number): number {
  return Math.max(YOUNGEST_MS, Math.ceil((Date.now() - began) / MINUTE_MS) * MINUTE_MS)
}

/** The counts of a time range, compared with the range before it, and the places to look. */
export function Screen(): ReactElement {
  const [search, change] = useSearchState<OverviewSearch>()
  const { project } = usePlace()
  const asked = RANGES.find(({ id }) => id === (search.range ?? '')) ?? RANGES[1]
  const [first, setFirst] = useState(0)
  const began = Math.max(Date.parse(project.created_at), first)
  const ms = Math.min(asked.ms, agedMs(began))
  const range = { ...asked, ms, shown: ms < asked.ms ? `Since ${momentText(Date.now() - ms)}` : asked.label }
  const selected = spanIn(search)
  const map = useMap({ range: `${range.id} ${began}`, ms: range.ms, selected })
  const firstAt = Date.parse(map.data?.map.first_at ?? '') || 0
  if (firstAt > first) setFirst(firstAt)
  const bounds = () => ({ from: new Date(Date.now() - range.ms).toISOString(), project_id: project.id })
  const summary = useAsk(
    ['dashboard', 'summary', range.id, began],
    (client, signal) => client.dashboard.summary(bounds(), { signal }),
    { everyMs: EVERY_MS, keep: true },
  )
  const series = useAsk(
    ['dashboard', 'timeseries', range.id, began],
    (client, signal) => client.dashboard.timeseries(bounds(), { signal }),
    { everyMs: EVERY_MS, keep: true },
  )
  const error = summary.error ?? series.error
  return (
    <Page
      title="Overview"
      actions={
        <Menu
          align="end"
          className="flex h-7 items-center gap-1.5 rounded-button border border-line-2 pr-2 pl-2.5 font-control hover:bg-sunken"
          items={RANGES.map(({ id, label }) => ({
            label,
            hint: id === range.id ? '✓' : '',
            go: () => change({ range: id === '' ? undefined : id, from: undefined, to: undefined }),
          }))}
        >
          {range.label}
          <ChevronDown className="size-3.5 text-ink-3" strokeWidth={1.5} aria-hidden />
        </Menu>
      }
    >
      {error !== null && summary.data !== undefined && (
        <Stale since={summary.dataUpdatedAt} error={summary.error} again={summary.refetch} />
      )}
      {summary.data === undefined || series.data === undefined ? (
        error === null ? (
          <Loading rows={6} height={72} />
        ) : (
          <Refused error={error} again={() => Promise.all([summary.refetch(), series.refetch()])} />
        )
      ) : (
        <Numbers
          summary={summary.data.summary}
          series={series.data.timeseries}
          range={range}
          map={map}
          selected={selected}
          select={(stretch) => change(addressOf(stretch))}
        />
      )}
    </Page>
  )
}

type NumbersProps = {
  readonly summary: Summary
  readonly range: Range
  readonly series: RouteAnswer<Routes['dashboard']['timeseries']>['timeseries']
  readonly map: ReturnType<typeof useMap>
  readonly selected: Span | undefined
  readonly select: (span: Span | undefined) => void
}

function Numbers({ summary, series, range, map, selected, select }: NumbersProps): ReactElement {
  const { totals, previous, usage } = summary
  const drawn = (
    <MapPart
      asked={map}
      rangeLabel={range.shown}
      selected={selected}
      select={select}
      bucketMs={series.bucket_seconds * 1_000}
    />
  )
  if (totals.submissions + totals.rejected + totals.delivered + totals.failed + previous.submissions === 0) {
    return (
      <div className="min-h-0 flex-1 overflow-y-auto" role="group" aria-label="Set up so far" tabIndex={0}>
        <div className="min-h-64 py-8">
          <Empty title="No events in this time range">
            Choose a longer range, or{' '}
            <To screen="events" className="text-accent underline">
              send an event
            </To>
            .
          </Empty>
        </div>
        {(map.data?.map.lines.length ?? 0) > 0 && drawn}
        <Limits of={usage} />
      </div>
    )
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto border-t border-line" role="group" aria-label="Numbers" tabIndex={0}>
      <Tiles summary={summary} range={range} />
      <Bars series={series} selected={selected} select={select} />
      {drawn}
      <div className="grid grid-cols-2 max-lg:grid-cols-1">
        <div>
          <DeliveryTimes series={series} />
          <Failing of={summary.failing_destinations} />
          <Causes of={summary.rejections} range={range.id} />
        </div>
        <div>
          <Waiting of={summary.backlog} />
          {map.data !== undefined && <Busiest map={map.data.map} />}
        </div>
      </div>
      <Limits of={usage} />
    </div>
  )
}

/** The numbers of the range, each with the way to the things that it counts. */
function Tiles({ summary, range }: Pick<NumbersProps, 'summary' | 'range'>): ReactElement {
  const { project } = usePlace()
  const { totals, delivery_ms, backlog } = summary
  // A project that is younger than the previous range has nothing to compare with.
  const previous = Date.parse(project.created_at) <= Date.parse(summary.from) - range.ms ? summary.previous : undefined
  const now = Date.parse(summary.to)
  // Deliveries have no named range of 30 days.
  const delivery =
    range.id === '30d' ? addressOf({ from: now - range.ms, to: now }) : { range: DELIVERY_RANGES[range.id] }
  return (
    <ul
      aria-label="Counts"
      className="grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] gap-px border-b border-line bg-line"
    >
      <Tile
        label="Events in"
        to="events"
        search={addressOf({ from: now - range.ms, to: now })}
        value={count(totals.submissions)}
        below={changeOf(totals.submissions, previous?.submissions)}
      />
      <Tile
        label="Delivered"
        to="deliveries"
        search={{ ...delivery, state: 'delivered' }}
        value={count(totals.delivered)}
        below={changeOf(totals.delivered, previous?.delivered)}
      />
      <Tile
        label="Failed attempts"
        to="deliveries"
        search={{ ...delivery, state: totals.gave_up > 0 ? 'failed' : 'retrying' }}
        value={count(totals.failed)}
        below={changeOf(totals.failed, previous?.failed)}
        isBad={totals.failed > 0}
      />
      <Tile
        label="Rejected"
        to="rejections"
        search={{ range: range.id === '' ? undefined : range.id }}
        value={count(totals.rejected)}
        below={changeOf(totals.rejected, previous?.rejected)}
      />
      <Tile
        label="Median delivery"
        to="destinations"
        search={{}}
        value={delivery_ms === null ? '–' : took(delivery_ms.p50)}
        below={delivery_ms === null ? '' : `95% within ${took(delivery_ms.p95)}`}
      />
      <Tile
        label="Waiting now"
        to="deliveries"
        search={{ state: backlog.held > 0 ? 'held' : backlog.retrying > 0 ? 'retrying' : 'pending' }}
        value={count(backlog.pending + backlog.retrying + backlog.paused)}
        below={waitingText(backlog)}
      />
    </ul>
  )
}

const DELIVERY_RANGES = { '1h': '1h', '': '24h', '7d': '7d' } as const

/** Paused deliveries have no age here, so beside them the text says that the age leaves them out. */
function waitingText({ held, paused, oldest_accepted_at }: Summary['backlog']): string {
  const parts = [
    ...(held > 0 ? [`${count(held)} held back`] : paused > 0 ? [`${count(paused)} paused`] : []),
    ...(oldest_accepted_at === null
      ? []
      : [`oldest ${span(Date.now() - Date.parse(oldest_accepted_at))}${paused > 0 ? ', not counting paused' : ''}`]),
  ]
  return parts.length === 0 ? 'none overdue' : parts.join(', ')
}

function Tile({
  label,
  to,
  search,
  value,
  below,
  isBad = false,
}: {
  readonly label: string
  readonly to: string
  readonly search: Search
  readonly value: string
  readonly below: string
  readonly isBad?: boolean
}): ReactElement {
  return (
    <li className="bg-surface">
      <To screen={to} search={search} className="block h-full px-[18px] py-4 outline-offset-[-2px] hover:bg-hover">
        <span className="block text-ink-3">{label}</span>
        <b className={`block text-display ${isBad ? 'text-fail' : ''}`}>{value}</b>
        <span className="block text-data text-ink-3">{below}</span>
      </To>
    </li>
  )
}

/** The monthly limits of the plan, if it has any. */
function Limits({ of: usage }: { readonly of: Summary['usage'] }): ReactElement {
  return (
    <>
      {usage.max_events !== null && (
        <Quota
          what="Events"
          used={usage.events}
          max={usage.max_events}
          month={usage.month}
          since={usage.since}
          beyond="Postroad rejects events until the next month begins (UTC) or the plan changes."
        />
      )}
      {usage.max_deliveries !== null && (
        <Quota
          what="Deliveries"
          used={usage.deliveries ?? 0}
          max={usage.max_deliveries}
          month={usage.month}
          since={usage.since}
          beyond="Postroad still accepts events. It pauses their deliveries until the next month begins (UTC) or the plan changes."
        />
      )}
    </>
  )
}

const DAY_MS = 86_400_000

type QuotaProps = {
  readonly what: string
  readonly used: number
  readonly max: number
  readonly month: string
  readonly since: string
  readonly beyond: string
}

/** The use of the monthly limit, and the date on which it runs out at this pace. */
function Quota({ what, used, max, month, since, beyond }: QuotaProps): ReactElement {
  return (
    <section className="border-t border-line px-[18px] py-5">
      <h2 className="font-title">
        {what} of {month}
      </h2>
      {used >= max ? (
        <p className="mt-1 text-fail">
          All {count(max)} are used up. {beyond}
        </p>
      ) : (
        <p className="mt-1 text-ink-3">
          {count(used)} of {count(max)}. {paceText({ used, max, month, since })}
        </p>
      )}
      <progress
        max={max}
        value={used}
        aria-label={`${what} used`}
        className="mt-2 h-1 w-full max-w-md accent-(--accent)"
      />
    </section>
  )
}

/** Empty during the first day: one burst is not a pace. */
function paceText({ used, max, month, since }: Pick<QuotaProps, 'used' | 'max' | 'month' | 'since'>): string {
  const began = Date.parse(since)
  if (used === 0 || Date.now() - began < DAY_MS) return ''
  const end = began + ((Date.now() - began) * max) / used
  const isLater = new Date(end).toISOString().slice(0, 7) > month
  return isLater
    ? 'At this rate, they last until the end of the month.'
    : `At this rate, they run out on ${dayText(end)}.`
}

function count(value: number): string {
  return value.toLocaleString('en')
}

/** The difference from the previous range; empty without a count to compare with. */
function changeOf(now: number, before = 0): string {
  if (before === 0) return ''
  const percent = Math.round(((now - before) / before) * 100)
  return percent === 0 ? 'same as before' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)}% from the previous range`
}
