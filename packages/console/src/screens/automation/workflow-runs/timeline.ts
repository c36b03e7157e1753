import type { RouteAnswer, Routes } from '@postroad/contract'

type Instance = RouteAnswer<Routes['workflowInstances']['get']>['instance']
type Run = Pick<Instance, 'created_at' | 'ended_at'> & {
  readonly steps: readonly Pick<
    Instance['steps'][number],
    'step_id' | 'type' | 'state' | 'attempt' | 'started_at' | 'ended_at'
  >[]
}

/** A part of the time of a run: a step works, waits for something, or has failed. */
export type Bar = { readonly kind: 'work' | 'wait' | 'fail'; readonly fromMs: number; readonly toMs: number }
export type Row = {
  readonly stepId: string
  readonly bars: readonly Bar[]
  readonly workMs: number
  readonly waitMs: number
  readonly attempts: number
}
export type Timeline = { readonly totalMs: number; readonly rows: readonly Row[] }

/** The step types whose work is to wait. */
const WAITING = new Set<string>(['delay', 'wait_for_event'])

/** The time of a run, with one row for each step, in the order in which they started. Between two attempts, a step waits for its retry. */
export function timelineOf({ created_at, ended_at, steps }: Run, now: number): Timeline {
  const start = Date.parse(created_at)
  const end = ended_at === null ? Math.max(now, start) : Date.parse(ended_at)
  const rows = [...Map.groupBy(steps, ({ step_id }) => step_id)].map(([stepId, attempts]) => {
    const bars: Bar[] = []
    let since: number | undefined
    for (const { type, state, ...at } of attempts) {
      const fromMs = Date.parse(at.started_at) - start
      const toMs = Math.max(fromMs, (at.ended_at === null ? end : Date.parse(at.ended_at)) - start)
      if (since !== undefined && fromMs > since) bars.push({ kind: 'wait', fromMs: since, toMs: fromMs })
      bars.push({ kind: state === 'failed' ? 'fail' : WAITING.has(type) ? 'wait' : 'work', fromMs, toMs })
      since = toMs
    }
    return {
      stepId,
      bars,
      workMs: sum(bars.filter(({ kind }) => kind !== 'wait')),
      waitMs: sum(bars.filter(({ kind }) => kind === 'wait')),
      attempts: attempts.length,
    }
  })
  const lastMs = Math.max(end - start, ...rows.flatMap(({ bars }) => bars.map(({ toMs }) => toMs)))
  return { totalMs: Math.max(1, lastMs), rows }
}

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const TICKS_MAX = 4
/** The distances between two ticks. The console shows each of their multiples exactly; it would show 90 s as "2 min". */
const STEPS_MS = [
  ...[1, 10, 100].flatMap((ms) => [ms, 2 * ms, 5 * ms]),
  ...[1, 2, 5, 10, 15].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 60].map((minutes) => minutes * MINUTE_MS),
  ...[2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 5, 10, 20, 50, 100, 200].map((days) => days * DAY_MS),
]

/** The ticks of the axis after 0, at round times: four at most, so that they fit under a narrow chart. */
export function ticksOf(totalMs: number): readonly number[] {
  const stepMs = STEPS_MS.find((ms) => totalMs / ms < TICKS_MAX + 1) ?? totalMs
  return Array.from({ length: Math.floor(totalMs / stepMs) }, (_none, index) => stepMs * (index + 1))
}

const sum = (bars: readonly Bar[]): number => bars.reduce((ms, { fromMs, toMs }) => ms + toMs - fromMs, 0)
