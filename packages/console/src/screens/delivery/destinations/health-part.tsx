import { holdText } from '@postroad/contract/holds'
import { useState, type ReactElement, type ReactNode } from 'react'
import { counted } from '../../../parts/text-list.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Views } from '../../../ui/page.tsx'
import { RefusedLine, Stale } from '../../../ui/states.tsx'
import { Countdown, span, took, useNow } from '../../../ui/time.tsx'
import { HealthBars } from './health-bars.tsx'
import { isBad, ratioText, useHealth, type Health } from './health.ts'

const RANGES = [
  { id: '1', label: '1 h' },
  { id: '24', label: '24 h' },
  { id: '168', label: '7 days' },
] as const
type RangeId = (typeof RANGES)[number]['id']

/** The health of a destination: the successes, the times, the waiting deliveries, and the next attempt. */
export function HealthPart({ id }: { readonly id: string }): ReactElement {
  const [range, setRange] = useState<RangeId>('24')
  const asked = useHealth(id, Number(range))
  const health = asked.data?.health
  return (
    <section aria-label="Health" className="border-b border-line">
      {asked.error !== null && health !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {asked.error !== null && health === undefined && (
        <div className="px-5 py-3">
          <RefusedLine error={asked.error} />
        </div>
      )}
      <div className="flex min-h-10 flex-wrap items-center gap-x-3 px-5">
        <h3 className="font-title">Health</h3>
        <Views label="Range" of={RANGES} at={range} go={setRange} />
        {health !== undefined && (
          <span className="ml-auto text-data text-ink-3">
            {health.counted_at === null ? (
              'not updated yet'
            ) : (
              <>
                updated <Ago at={health.counted_at} />
              </>
            )}
          </span>
        )}
      </div>
      {health !== undefined && (
        <div aria-busy={asked.isPlaceholderData}>
          <Numbers health={health} />
        </div>
      )}
    </section>
  )
}

function Numbers({ health }: { readonly health: Health }): ReactElement {
  const { attempts, response_ms, backlog } = health
  const waiting = backlog.pending + backlog.retrying + backlog.paused
  return (
    <>
      <dl className="grid grid-cols-4 border-y border-line/55 max-xl:grid-cols-2">
        <Tile
          label="Succeeded"
          value={ratioText(health)}
          below={
            attempts.gave_up > 0
              ? `${(attempts.succeeded + attempts.failed).toLocaleString('en')} attempts; ${counted(attempts.gave_up, 'delivery', 'deliveries')} failed permanently`
              : `${(attempts.succeeded + attempts.failed).toLocaleString('en')} attempts`
          }
          isBad={isBad(health)}
        />
        <Tile
          label="Response time, median"
          value={response_ms === null ? '–' : took(response_ms.p50)}
          below={response_ms === null ? 'nothing was sent' : `95% within ${took(response_ms.p95)}`}
        />
        <Tile label="Waiting now" value={waiting.toLocaleString('en')} below={<Waiting of={backlog} />} />
        <Tile label="Next attempt" value={<NextAttempt health={health} />} below={nextText(health)} />
      </dl>
      <HealthBars points={health.points} seconds={health.bucket_seconds} />
    </>
  )
}

function Waiting({
  of: { pending, retrying, paused, held, oldest_accepted_at },
}: {
  readonly of: Health['backlog']
}): ReactElement {
  const now = useNow(10_000)
  const parts = [
    [pending, 'pending'],
    [retrying, 'retrying'],
    [paused, 'paused'],
  ] as const
  const said = parts.filter(([count]) => count > 0).map(([count, state]) => `${count.toLocaleString('en')} ${state}`)
  if (said.length === 0) return <>none overdue</>
  return (
    <>
      {said.join(', ')}
      {held > 0 && `; ${held === pending + retrying + paused ? 'all' : held.toLocaleString('en')} held back`}
      {oldest_accepted_at !== null &&
        `; the oldest ${paused > 0 ? 'that is not paused ' : ''}is ${span(now - Date.parse(oldest_accepted_at))} old`}
    </>
  )
}

/** The next attempt: an open breaker has its probe, and a delivery that is held back has no "now". */
function NextAttempt({ health: { held_by, next_attempt_at } }: { readonly health: Health }): ReactElement {
  const now = useNow()
  if (next_attempt_at === null) return <>–</>
  const isDue = Date.parse(next_attempt_at) <= now
  return held_by !== null && isDue && held_by.cause !== 'breaker_open' ? <>waits</> : <Countdown to={next_attempt_at} />
}

const BREAKER_TEXTS = {
  closed: 'breaker closed',
  open: 'breaker open: one probe',
  half_open: 'breaker open: probing now',
  recovering: 'breaker recovering',
} as const

function nextText({ enabled, breaker, held_by }: Health): string {
  if (!enabled) return 'turned off'
  return held_by !== null && breaker.state === 'closed' ? holdText(held_by) : BREAKER_TEXTS[breaker.state]
}

function Tile({
  label,
  value,
  below,
  isBad: bad = false,
}: {
  readonly label: string
  readonly value: ReactNode
  readonly below: ReactNode
  readonly isBad?: boolean
}): ReactElement {
  return (
    <div className="min-w-0 border-r border-line/55 px-5 py-2.5 last:border-r-0 max-xl:even:border-r-0 max-xl:[&:nth-child(-n+2)]:border-b">
      <dt className="text-data text-ink-3">{label}</dt>
      <dd>
        <b className={`block text-title ${bad ? 'text-fail' : ''}`}>{value}</b>
        <span className="block text-data leading-4 text-ink-3">{below}</span>
      </dd>
    </div>
  )
}
