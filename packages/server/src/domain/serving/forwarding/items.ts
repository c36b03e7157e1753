import type { TraceContext } from '../../delivery/trace-context.ts'

/** Log records and spans before they are encoded. Times are milliseconds since 1970. */

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

export type LogItem = {
  readonly at: number
  readonly severity: 'info' | 'warn' | 'error'
  /** The kind of event, such as `postroad.attempt.ended`. */
  readonly event: string
  readonly body: string
  readonly attributes: Attributes
  readonly traceId: string | undefined
  readonly spanId: string | undefined
}

export type SpanItem = {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | undefined
  readonly name: string
  readonly kind: 'server' | 'client' | 'producer' | 'internal'
  readonly start: number
  readonly end: number
  readonly attributes: Attributes
  /** One sentence; undefined: it did not fail. */
  readonly error: string | undefined
  readonly link: TraceContext | undefined
}

/** The items of one row. A row without a trace is not sampled. */
export type Piece = {
  readonly traceId: string | undefined
  readonly failed: boolean
  readonly logs: readonly LogItem[]
  readonly spans: readonly SpanItem[]
}

type Loose = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

/** Attributes without those that have no value. */
export function attributesOf(loose: Loose): Attributes {
  const known = Object.entries(loose).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(known)
}
