import type { ReactElement } from 'react'
import { planText, seatsText } from '../../../parts/plan-text.ts'
import { count, periodText, type Billing } from './text.ts'

/** The usage of the month against the limits of the plan. */
export function Meters({ of: { plan, period, usage } }: { readonly of: Billing }): ReactElement {
  const { events, deliveries, members } = usage
  return (
    <section aria-label="Usage" className="border-b border-line px-[18px] py-5">
      <h2 className="text-lead font-title">{planText(plan.name)} plan</h2>
      <p className="mt-1 text-ink-3">
        This period: {periodText(period)} (UTC). Events are stored for {plan.limits.retention_days} days.
      </p>
      <ul className="mt-4 grid max-w-5xl grid-cols-[repeat(auto-fit,minmax(220px,1fr))] gap-6 max-xl:grid-cols-2">
        <Meter label="Events" used={events.used} max={events.max} below={paceText(events)} />
        <Meter label="Deliveries" used={deliveries.used} max={deliveries.max} below={paceText(deliveries)} />
        <Meter
          label="Seats"
          used={members.used}
          max={members.max}
          below={seatsText((members.used ?? 0) - members.pending_invites, members.pending_invites)}
        />
        <Meter label="Stored events" used={usage.retained_events} max={null} below="" />
      </ul>
    </section>
  )
}

type MeterProps = {
  readonly label: string
  readonly used: number | null
  readonly max: number | null
  readonly below: string
}

function Meter({ label, used, max, below }: MeterProps): ReactElement {
  const isFull = used !== null && max !== null && used >= max
  return (
    <li>
      <span className="block text-ink-3">{label}</span>
      {used === null ? (
        <span className="block text-ink-2">Not metered on this plan</span>
      ) : (
        <>
          <b className={`block text-display ${isFull ? 'text-fail' : ''}`}>{count(used)}</b>
          <span className="block text-data text-ink-3">{max === null ? 'no limit' : `of ${count(max)}`}</span>
        </>
      )}
      {used !== null && max !== null && (
        <progress
          max={Math.max(1, max)}
          value={Math.min(used, max)}
          aria-label={`${label} used`}
          className="mt-2 h-1 w-full accent-(--accent)"
        />
      )}
      {below !== '' && <span className="mt-1 block text-data text-ink-3">{below}</span>}
    </li>
  )
}

function paceText({ projected, max }: { readonly projected: number | null; readonly max: number | null }): string {
  if (projected === null || projected === 0) return ''
  const text = `On pace for ${count(projected)} this month`
  return max !== null && projected > max ? `${text}, more than the plan allows` : text
}
