import type { RouteAnswer, Routes } from '@postroad/contract'
import { ChevronDown } from 'lucide-react'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { To, useSearchState } from '../../../data/go.tsx'
import { usePlace } from '../../../data/place.ts'
import type { Search } from '../../../data/search-text.ts'
import { addressOf, spanIn, type Span } from '../../../parts/span.ts'
import { Menu } from '../../../ui/menu.tsx'
import { Page } from '../../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { span, took } from '../../../ui/time.tsx'
import { Bars } from './bars.tsx'
import { Causes, Failing } from './lists.tsx'

const RANGES = [
  { id: '1h', label: 'Last hour', ms: 3_600_000 },
  { id: '', label: 'Last 24 hours', ms: 86_400_000 },
  { id: '7d', label: 'Last 7 days', ms: 604_800_000 },
  { id: '30d', label: 'Last 30 days', ms: 2_592_000_000 },
] as const

type OverviewSearch = Search & { readonly range?: string; readonly from?: string; readonly to?: string }
type Summary = RouteAnswer<Routes['dashboard']['summary']>['summary']

const EVERY_MS = 15_000

/** What happened in a range of time, in numbers, beside the range before it; and where to look. */
export function Screen(): ReactElement {
  const [search, change] = useSearchState<OverviewSearch>()
  const { project } = usePlace()
  const range = RANGES.find(({ id }) => id === (search.range ?? '')) ?? RANGES[1]
  const bounds = () => ({ from: new Date(Date.now() - range.ms).toISOString(), project_id: project.id })
  const summary = useAsk(
    ['dashboard', 'summary', range.id],
    (client, signal) => client.dashboard.summary(bounds(), { signal }),
    { everyMs: EVERY_MS, keep: true },
  )
  const series = useAsk(
    ['dashboard', 'timeseries', range.id],
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
      {error !== null && summary.data !== undefined && <Stale since={summary.dataUpdatedAt} again={summary.refetch} />}
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
          range={range.id}
          selected={spanIn(search)}
          select={(stretch) => change(addressOf(stretch))}
        />
      )}
    </Page>
  )
}

type NumbersProps = {
  readonly summary: Summary
  readonly range: string
  readonly series: RouteAnswer<Routes['dashboard']['timeseries']>['timeseries']
  readonly selected: Span | undefined
  readonly select: (span: Span | undefined) => void
}

function Numbers({ summary, series, range, selected, select }: NumbersProps): ReactElement {
  const { totals, previous, delivery_ms, backlog, usage } = summary
  if (totals.submissions + totals.rejected + totals.delivered + totals.failed + previous.submissions === 0) {
    return (
      <>
        <Empty title="Nothing happened in this time">
          Choose a longer range, or{' '}
          <To screen="events" className="text-accent underline">
            send an event
          </To>
          .
        </Empty>
        <Limits of={usage} />
      </>
    )
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto border-t border-line" role="group" aria-label="Numbers" tabIndex={0}>
      <dl className="grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] border-b border-line">
        <Tile
          label="Events in"
          value={count(totals.submissions)}
          change={changeOf(totals.submissions, previous.submissions)}
        />
        <Tile
          label="Delivered"
          value={count(totals.delivered)}
          change={changeOf(totals.delivered, previous.delivered)}
        />
        <Tile
          label="Failed attempts"
          value={count(totals.failed)}
          change={changeOf(totals.failed, previous.failed)}
          bad={totals.failed > 0}
        />
        <Tile label="Rejected" value={count(totals.rejected)} change={changeOf(totals.rejected, previous.rejected)} />
        <Tile
          label="Half delivered within"
          value={delivery_ms === null ? '–' : millis(delivery_ms.p50)}
          change={delivery_ms === null ? '' : `95 % within ${millis(delivery_ms.p95)}`}
        />
        <Tile
          label="Waiting now"
          value={count(backlog.pending + backlog.retrying + backlog.paused)}
          change={
            backlog.oldest_accepted_at === null
              ? 'nothing is late'
              : `oldest ${span(Date.now() - Date.parse(backlog.oldest_accepted_at))} old`
          }
        />
      </dl>
      <Bars series={series} selected={selected} select={select} />
      <div className="grid grid-cols-2 max-xl:grid-cols-1">
        <Failing of={summary.failing_destinations} />
        <Causes of={summary.rejections} range={range} />
      </div>
      <Limits of={usage} />
    </div>
  )
}

function Tile({
  label,
  value,
  change,
  bad = false,
}: {
  readonly label: string
  readonly value: string
  readonly change: string
  readonly bad?: boolean
}): ReactElement {
  return (
    <div className="border-r border-line px-[18px] py-4 last:border-0">
      <dt className="text-ink-3">{label}</dt>
      <dd>
        <b className={`block text-display ${bad ? 'text-fail' : ''}`}>{value}</b>
        <span className="text-data text-ink-3">{change}</span>
      </dd>
    </div>
  )
}

/** What the plan allows a month, where it limits anything. */
function Limits({ of: usage }: { readonly of: Summary['usage'] }): ReactElement {
  return (
    <>
      {usage.max_events !== null && (
        <Quota
          what="Events"
          used={usage.events}
          max={usage.max_events}
          month={usage.month}
          beyond="Events are refused until the next month begins (UTC) or the plan is changed."
        />
      )}
      {usage.max_deliveries !== null && (
        <Quota
          what="Deliveries"
          used={usage.deliveries ?? 0}
          max={usage.max_deliveries}
          month={usage.month}
          beyond="Events are still accepted. Their deliveries are paused until the next month begins (UTC) or the plan is changed."
        />
      )}
    </>
  )
}

type QuotaProps = {
  readonly what: string
  readonly used: number
  readonly max: number
  readonly month: string
  readonly beyond: string
}

/** How much the month has used of what the plan allows, and when all of it will be used, if it goes on like this. */
function Quota({ what, used, max, month, beyond }: QuotaProps): ReactElement {
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
          {count(used)} of {count(max)}. {paceText({ used, max, month })}
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

function paceText({ used, max, month }: Pick<QuotaProps, 'used' | 'max' | 'month'>): string {
  if (used === 0) return ''
  const began = Date.parse(`${month}-01T00:00:00Z`)
  const end = new Date(began + ((Date.now() - began) * max) / used)
  const isLater = end.toISOString().slice(0, 7) > month
  return isLater
    ? 'At this pace they last for the month.'
    : `At this pace they are used up on ${end.toLocaleDateString('en-GB', { day: 'numeric', month: 'long' })}.`
}

function count(value: number): string {
  return value.toLocaleString('en')
}

function millis(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : took(ms)
}

function changeOf(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'none before either' : 'none in the time before'
  const percent = Math.round(((now - before) / before) * 100)
  return percent === 0 ? 'as many as before' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} % to the time before`
}
