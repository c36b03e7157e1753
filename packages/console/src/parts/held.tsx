import { holdText, type HeldBy } from '@postroad/contract/holds'
import { wordOf } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import type { Delivery } from '../data/tail.ts'
import { NONE } from '../ui/glyph.tsx'
import { Countdown } from '../ui/time.tsx'

/** The next attempt at a destination, in a list: the next probe of an open breaker, otherwise the cause. */
function HeldShort({ held }: { readonly held: HeldBy }): ReactElement {
  if (held.cause !== 'breaker_open')
    return (
      <span className="truncate text-retry-text" title={holdText(held)}>
        {SHORT[held.cause]}
      </span>
    )
  return (
    <span
      className="whitespace-nowrap text-retry-text"
      title="The circuit breaker is open. Postroad sends one delivery as a probe"
    >
      probe <NextProbe at={held.next_probe_at} />
    </span>
  )
}

/** The next step of a delivery, in a list: the cause that holds it back, its next attempt, or its state. */
export function NextStep({
  of: { state, next_attempt_at, held_by },
}: {
  readonly of: Pick<Delivery, 'state' | 'next_attempt_at' | 'held_by'>
}): ReactElement {
  if (held_by !== null) return <HeldShort held={held_by} />
  if (state === 'retrying' && next_attempt_at !== null)
    return (
      <span className="text-retry-text">
        <Countdown to={next_attempt_at} />
      </span>
    )
  return <span className={state === 'failed' ? 'text-fail' : 'text-ink-3'}>{wordOf(state)}</span>
}

const SHORT: Readonly<Record<Exclude<HeldBy['cause'], 'breaker_open'>, string>> = {
  destination_disabled: 'disabled',
  destination_off: 'destination off',
  breaker_recovering: 'recovering',
  rate_limit: 'rate limit',
  in_flight: 'waiting for its turn',
  order: 'waiting for an earlier event',
}

/** The next probe of an open breaker. A probe that is due or under way has no time. */
export function NextProbe({ at }: { readonly at: string | null }): ReactElement {
  return at === null ? <>now</> : <Countdown to={at} />
}

/** The reason why the last attempt at the destination failed: "503", "timeout"; undefined when it is unknown. */
export function errorText({ last_error, last_status }: Pick<HeldBy, 'last_error' | 'last_status'>): string | undefined {
  return last_status === null ? last_error?.replaceAll('_', ' ') : String(last_status)
}

/** The last answer of the receiver, or the reason why there is none. An attempt without a result was interrupted. */
export function LastAnswer({
  of: { last_status, last_error, state, attempt_count },
}: {
  readonly of: Pick<Delivery, 'last_status' | 'last_error' | 'state' | 'attempt_count'>
}): ReactElement {
  const good = state === 'delivered'
  if (last_status !== null)
    return <span className={`mono text-data font-control ${good ? 'text-ok-text' : 'text-fail'}`}>{last_status}</span>
  if (last_error !== null) return <span className="text-fail">{last_error.replaceAll('_', ' ')}</span>
  return attempt_count > 0 && !good && state !== 'sending' ? <span className="text-ink-3">interrupted</span> : NONE
}
