import { holdText, type HeldBy } from '@postroad/contract/holds'
import { moment } from './time.ts'

/** The cause for which a destination holds deliveries back, its start, and the last error. */
export function heldText(held: HeldBy): string {
  const { last_error, last_status, since, behind } = held
  const error = last_status === null ? last_error?.replaceAll('_', ' ') : String(last_status)
  const when = [
    ...(since === null ? [] : [`since ${moment(since)}`]),
    ...(error === undefined ? [] : [`last error ${error}`]),
  ].join(', ')
  return [holdText(held), when, behind === null ? '' : `waits for ${behind}`].filter((line) => line !== '').join('\n')
}

/** The time of the next probe. The server never returns a time that has passed. */
export function nextProbeText({ cause, next_probe_at }: HeldBy): string | undefined {
  if (cause !== 'breaker_open') return undefined
  return next_probe_at === null ? 'now' : moment(next_probe_at)
}
