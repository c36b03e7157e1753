import { createHash } from 'node:crypto'
import type { Idempotency } from '@postroad/contract'
import { compilePath, readPath } from '../routing/dot-path.ts'
import { isRawNumber } from '../json/json-text.ts'

/** The compiled setting for the event key that an endpoint takes from its requests. */
export type CompiledIdempotency = {
  /** Identifies the setting, so that another setting finds none of this one's keys. */
  readonly source: string
  /** undefined: the request has no key. */
  readonly keyOf: (of: {
    readonly headers: Readonly<Record<string, string>>
    readonly payload: unknown
  }) => string | undefined
}

/** undefined when the endpoint has no such setting. */
export function compileIdempotency(idempotency: Idempotency): CompiledIdempotency | undefined {
  if (idempotency === null) return undefined
  if ('header' in idempotency) {
    const name = idempotency.header.toLowerCase()
    return { source: `header ${name}`, keyOf: ({ headers }) => textOf(headers[name]) }
  }
  const path = compilePath(idempotency.path)
  return { source: `path ${idempotency.path}`, keyOf: ({ payload }) => textOf(readPath(payload, path)) }
}

/** Any text that is not blank, or a number as it was written, because providers number their events in many ways. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'object' && isRawNumber(value)) return value.rawJSON
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** SHA-256 in hex over unambiguously separated parts. */
export function digestOf(parts: readonly (string | null)[], body?: Uint8Array): string {
  const hash = createHash('sha256').update(JSON.stringify(parts))
  return (body === undefined ? hash : hash.update(body)).digest('hex')
}
