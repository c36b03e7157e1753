import { clockText, dateText, momentText } from '../ui/moments.ts'

/** A time range in milliseconds; the end is not part of it. */
export type Span = { readonly from: number; readonly to: number }

/** A time range in an address. */
export function addressOf(span: Span | undefined): {
  readonly from: string | undefined
  readonly to: string | undefined
} {
  return {
    from: span === undefined ? undefined : new Date(span.from).toISOString(),
    to: span === undefined ? undefined : new Date(span.to).toISOString(),
  }
}

/** The time range of an address; undefined when it has none. */
export function spanIn({
  from,
  to,
}: {
  readonly from?: string | undefined
  readonly to?: string | undefined
}): Span | undefined {
  const span = { from: Date.parse(from ?? ''), to: Date.parse(to ?? '') }
  return span.to > span.from ? span : undefined
}

/** A moment in the form of a `datetime-local` field, in the time of the browser, without seconds if its step is a minute. */
export function localText(ms: number, step: 'second' | 'minute'): string {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString()
  return local.slice(0, step === 'second' ? 19 : 16)
}

/** "Nov 22, 13:04 – 13:20". The end shows its day only when the range spans two days. */
export function spanText({ from, to }: Span): string {
  return `${momentText(from)} – ${(dateText(from) === dateText(to) ? clockText : momentText)(to)}`
}
