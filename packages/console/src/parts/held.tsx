import { holdText, type HeldBy } from '@postroad/contract/holds'
import type { ReactElement } from 'react'
import { Countdown } from '../ui/time.tsx'

/** The next attempt at a destination, in a list: the next probe of an open breaker, otherwise the cause. */
export function HeldShort({ held }: { readonly held: HeldBy }): ReactElement {
  if (held.cause !== 'breaker_open')
    return (
      <span className="truncate text-retry-text" title={holdText(held)}>
        {SHORT[held.cause]}
      </span>
    )
  return (
    <span className="text-retry-text" title="The circuit breaker is open. Postroad sends one delivery as a probe">
      probe <NextProbe at={held.next_probe_at} />
    </span>
  )
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
