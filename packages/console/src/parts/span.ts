/** A stretch of time in milliseconds; the end lies outside of it. */
export type Span = { readonly from: number; readonly to: number }

/** A stretch of time as it stands in an address. */
export function addressOf(span: Span | undefined): {
  readonly from: string | undefined
  readonly to: string | undefined
} {
  return {
    from: span === undefined ? undefined : new Date(span.from).toISOString(),
    to: span === undefined ? undefined : new Date(span.to).toISOString(),
  }
}

/** That of an address; undefined when it holds none. */
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
