import { createHash } from 'node:crypto'

/**
 * Trace contexts of W3C. The ids follow from stored ids, so that every process, retry and replay gives the same ones
 * (docs/adr/0182).
 */

/** The trace of an event: the 16 bytes of the id of its submission. */
export const traceIdOf = (submissionId: string): string => submissionId.replaceAll('-', '')

/** The span of a row: the last 8 bytes of its id. They are random, and never only zeros. */
export const spanIdOf = (id: string): string => id.replaceAll('-', '').slice(16)

/** The span of a part that has no separate id, such as a step of a run. */
export const spanIdNamed = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16)

/** The header of an attempt: its event is the trace, and the attempt is the parent of all spans of the receiver. */
export const traceparentOf = ({ submissionId, attemptId }: { submissionId: string; attemptId: string }): string =>
  `00-${traceIdOf(submissionId)}-${spanIdOf(attemptId)}-01`

export type TraceContext = { readonly traceId: string; readonly spanId: string; readonly flags: number }

/** Ids of only zeros and the version ff are invalid. Later versions may append members, and version 00 may not. */
const GRAMMAR =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|(?<!^00-.{52})-.*$)/

/** A header as a sender sent it; undefined when it is not valid by the grammar of W3C. */
export function readTraceparent(text: string | null | undefined): TraceContext | undefined {
  const found = GRAMMAR.exec(text?.trim() ?? '')
  if (found === null) return undefined
  const [, traceId = '', spanId = '', flags = ''] = found
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** The random part of a trace id that decides: 52 of its last 56 bits, which OpenTelemetry requires to be random. */
const DECIDING = { from: -14, to: -1 } as const
const DECIDING_STEPS = 2 ** 52

/** Whether an event is in the share of `rate`. The answer is the same for all its parts, signals and forwarders. */
export function isSampled(traceId: string, rate: number): boolean {
  const drawn = Number.parseInt(traceId.slice(DECIDING.from, DECIDING.to), 16) / DECIDING_STEPS
  return drawn >= 1 - rate
}
