import { LIMITS } from '@postroad/contract'

const FIRST_MS = 10_000
const DOUBLINGS_MAX = 10

/** The pause before the next try of a source, after so many failures in a row: 10 s, doubled each time, up to 15 minutes. */
export function pauseAfter(failures: number): number {
  const doublings = Math.min(Math.max(0, failures - 1), DOUBLINGS_MAX)
  return Math.min(FIRST_MS * 2 ** doublings, LIMITS.sourceBackoffMsMax)
}
