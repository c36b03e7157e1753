import type { Finding } from './checks.ts'
import type { Evidence } from './evidence.ts'

/** A measured number with its unit. A limit makes it a promise. */
export type Figure = { readonly figure: string; readonly value: string; readonly limit: string; readonly ok: boolean }

/** Milliseconds from each blow or start; empty when there was nothing to measure. */
type Times = readonly number[]

/**
 * Start of a life under load → the first acknowledgment of a request that was sent since. Lives that were cut short have none.
 */
export function startTimes({ lives, sent, answers }: Evidence): Times {
  const underLoad = sent[0]?.at ?? Infinity
  return lives.flatMap(({ from, to }) => {
    if (from < underLoad) return []
    const first = answers.find(
      (answer) => answer.status === 201 && answer.sentAt >= from && (to === undefined || answer.at <= to),
    )
    return first === undefined ? [] : [first.at - from]
  })
}

/** Blow at PostgreSQL → the first acknowledgment of a request that was sent since, unless another blow came first. */
export function postgresTimes({ blows, answers }: Evidence): Times {
  return blows.flatMap(({ target, at }, index) => {
    if (target === 'server') return []
    const next = blows[index + 1]?.at ?? Infinity
    const first = answers.find((answer) => answer.status === 201 && answer.sentAt >= at)
    return first === undefined || first.at > next ? [] : [first.at - at]
  })
}

/** Deliveries that a death cut off → their next attempts: the first one for each death, and all of them. */
export function redeliveryTimes({ attempts, blows }: Evidence): { readonly first: Times; readonly each: Times } {
  const cutOff = attempts.flatMap((attempt, index) => {
    const next = attempts[index + 1]
    if (attempt.outcome !== 'interrupted' || next?.delivery_id !== attempt.delivery_id) return []
    const began = attempt.started_at.getTime()
    const death = blows.find((blow) => blow.at >= began)
    return death === undefined ? [] : [{ death, ms: next.started_at.getTime() - death.at }]
  })
  const deaths = Map.groupBy(cutOff, ({ death }) => death)
  return {
    first: [...deaths.values()].map((all) => Math.min(...all.map(({ ms }) => ms))),
    each: cutOff.map(({ ms }) => ms),
  }
}

/** `p50 120 ms, max 900 ms (31)`. The longest time is compared with the limit, if there is one. */
export function timing(figure: string, times: Times, limitMs?: number): Figure {
  const sorted = times.toSorted((a, b) => a - b)
  const longest = sorted.at(-1) ?? 0
  const value =
    sorted.length === 0
      ? 'none'
      : `p50 ${seconds(sorted[Math.floor((sorted.length - 1) / 2)] ?? 0)}, max ${seconds(longest)} (${sorted.length})`
  return {
    figure,
    value,
    limit: limitMs === undefined ? '' : `max ${seconds(limitMs)}`,
    ok: limitMs === undefined || longest <= limitMs,
  }
}

export function counted(figure: string, value: number | string): Figure {
  return { figure, value: String(value), limit: '', ok: true }
}

/** The requests of the senders, and their outcomes. */
export function loadFigures({ sent, answers, receipts, attempts, blows, lives, drainMs }: Evidence): readonly Figure[] {
  const answered = (status: number | string): number => answers.filter((answer) => answer.status === status).length
  const struck = (target: string): number => blows.filter((blow) => blow.target === target).length
  const waits = answers
    .filter((answer) => answer.status === 201 || answer.status === 503)
    .map((answer) => answer.at - answer.sentAt)
  return [
    counted('events sent', sent.length),
    counted(
      'acknowledged / 503 / no answer',
      `${answered(201)} / ${answered(503)} / ${answered('broken') + answered('hung')}`,
    ),
    counted('requests at receivers', receipts.length),
    counted(
      'attempts, interrupted ones',
      `${attempts.length}, ${attempts.filter((attempt) => attempt.outcome === 'interrupted').length}`,
    ),
    counted('server killed / starts', `${struck('server')} / ${lives.length}`),
    counted(
      'postmaster / backend / session killed',
      `${struck('postmaster')} / ${struck('backend')} / ${struck('session')}`,
    ),
    timing('time to answer a request', waits),
    counted('time to drain after the last blow', seconds(drainMs)),
  ]
}

export function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** The complete outcome of a run. */
export type Report = {
  readonly scenario: string
  readonly seed: number
  readonly plant: string | null
  readonly ok: boolean
  readonly tookMs: number
  readonly findings: readonly Finding[]
  readonly figures: readonly Figure[]
  /** The reason why the run ended early, or null. */
  readonly stopped: string | null
  readonly repeat: string
}
