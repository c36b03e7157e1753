import { setTimeout as sleep } from 'node:timers/promises'
import type { Rng } from '../sim/rng.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS } from './checks.ts'
import type { Receiver } from './destinations.ts'
import type { Evidence } from './evidence.ts'
import { counted, loadFigures, timing } from './figures.ts'
import type { Outcome } from './scenario.ts'

/** Restarts that nobody may notice: what they have in common, and their judge. */

const PATIENCE_MS = 60_000
const LOOK_MS = 50
const ENDS_WITHIN_MS = 20_000
const CALM_MS = 500

/** Some time with all processes, so that each has requests under way. */
export const calm = (signal: AbortSignal): Promise<void> => sleep(CALM_MS, undefined, { signal })

/** Slow enough that deliveries are under way whenever a process is asked to end. */
export const slowReceivers = (rng: Rng): readonly Receiver[] =>
  ['receiver-1', 'receiver-2', 'receiver-3'].map((name) => ({
    name,
    datasets: null,
    maxInFlight: 20,
    scheme: 'standard',
    timeoutMs: PATIENCE_MS,
    conduct: () => ({ status: 200, afterMs: rng.int(100, 300) }),
  }))

/** From the signal to the end of the process, in ms; undefined: it had to be killed. */
export type Restart = { readonly pid: number; readonly tookMs: number | undefined }

export async function until(isSo: () => boolean, signal: AbortSignal): Promise<boolean> {
  const patience = performance.now() + PATIENCE_MS
  while (!isSo()) {
    if (performance.now() > patience) return false
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    await sleep(LOOK_MS, undefined, { signal })
  }
  return true
}

export function judgeRestarts(
  evidence: Evidence,
  { restarts, stopped }: { restarts: readonly Restart[]; stopped: string | null },
): Outcome {
  const facts = factsOf(evidence)
  const failed = evidence.answers.filter(({ status }) => status !== 201)
  // An attempt whose start was answered too late is given up before its request: nothing was cut off at a receiver.
  const seen = new Set(evidence.receipts.map(({ attempt }) => attempt))
  const cutOff = evidence.attempts.filter(({ id, outcome }) => outcome === 'interrupted' && seen.has(id))
  const findings = [
    ...[...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts)),
    promise(
      'failed requests',
      failed.map((answer) => JSON.stringify(answer)),
    ),
    promise(
      'deliveries cut off',
      cutOff.map(({ id }) => id),
    ),
    promise(
      'processes that did not end',
      restarts.filter(({ tookMs }) => tookMs === undefined).map(({ pid }) => String(pid)),
    ),
  ]
  const figures = [
    ...loadFigures(evidence),
    counted('processes restarted', restarts.length),
    timing(
      'signal to the end of the older process',
      restarts.flatMap(({ tookMs }) => tookMs ?? []),
      ENDS_WITHIN_MS,
    ),
  ]
  return { findings, figures, stopped }
}
