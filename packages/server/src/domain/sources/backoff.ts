import { LIMITS } from '@postroad/contract'

const FIRST_MS = 10_000
const DOUBLINGS_MAX = 10

/** The pause before a source's next attempt after this many failures in a row: 10 s, doubled each time, at most 15 min. */
export function pauseAfter(failures: number): number {
  const doublings = Math.min(Math.max(0, failures - 1), DOUBLINGS_MAX)
  return Math.min(FIRST_MS * 2 ** doublings, LIMITS.sourceBackoffMsMax)
}

const RECONNECT_FIRST_MS = 1_000
const RECONNECT_MS_MAX = 300_000
const RECONNECT_DOUBLINGS_MAX = 9

/**
 * The pause before the next attempt to connect: a random part (`chance`, 0 to 1) of a time that doubles from 1 s up to
 * 5 minutes. So connections that broke together do not come back together.
 */
export function reconnectPause(failures: number, chance: number): number {
  const doublings = Math.min(Math.max(0, failures - 1), RECONNECT_DOUBLINGS_MAX)
  return Math.round(Math.min(RECONNECT_FIRST_MS * 2 ** doublings, RECONNECT_MS_MAX) * chance)
}
