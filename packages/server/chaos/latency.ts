import type { Evidence } from './evidence.ts'
import { seconds, type Figure } from './figures.ts'

/** A span of time, by the machine's clock. */
export type Span = { readonly from: number; readonly to: number }

/** Milliseconds from the sending of an event to its first arrival at these destinations, for the events sent in the span. */
export function arrivals(
  { sent, receipts }: Pick<Evidence, 'sent' | 'receipts'>,
  { from, to, names }: Span & { readonly names: readonly string[] },
): readonly number[] {
  const sentAt = new Map(sent.filter(({ at }) => at >= from && at < to).map(({ event, at }) => [event, at]))
  const wanted = new Set(names)
  const seen = new Set<string>()
  return receipts.flatMap(({ destination, event, at }) => {
    const began = sentAt.get(event ?? '')
    const key = `${event} ${destination}`
    if (began === undefined || !wanted.has(destination) || seen.has(key)) return []
    seen.add(key)
    return [at - began]
  })
}

type Slowdown = {
  readonly before: readonly number[]
  readonly during: readonly number[]
  readonly ratioMax: number
  /** An additional limit for the p99 itself. */ readonly msMax?: number
}

/** `p99 31 ms, 1.20 × 26 ms before`, compared with its limits. Without values there is no ratio, and the promise is broken. */
export function slowdown(figure: string, { before, during, ratioMax, msMax = Infinity }: Slowdown): Figure {
  const [calm, stormy] = [p99(before), p99(during)]
  const ratio = stormy / calm
  const limit = msMax === Infinity ? `ratio max ${ratioMax}` : `ratio max ${ratioMax}, p99 max ${seconds(msMax)}`
  return {
    figure,
    value: `p99 ${seconds(stormy)}, ${ratio.toFixed(2)} × ${seconds(calm)}`,
    limit,
    ok: ratio <= ratioMax && stormy <= msMax,
  }
}

/**
 * How many requests per second came to these destinations in a span, compared with another span. The limit is a minimum share
 * in percent.
 */
export function pace(
  figure: string,
  {
    receipts,
    names,
    before,
    during,
    percentMin,
  }: Pick<Evidence, 'receipts'> & {
    readonly names: readonly string[]
    readonly before: Span
    readonly during: Span
    readonly percentMin: number
  },
): Figure {
  const perSecond = ({ from, to }: Span): number =>
    (receipts.filter(({ at, destination }) => names.includes(destination) && at >= from && at < to).length * 1_000) /
    (to - from)
  const [calm, stormy] = [perSecond(before), perSecond(during)]
  const percent = (stormy * 100) / calm
  return {
    figure,
    value: `${stormy.toFixed(0)}/s, ${percent.toFixed(0)} % of ${calm.toFixed(0)}/s`,
    limit: `min ${percentMin} %`,
    ok: percent >= percentMin,
  }
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? NaN
}
