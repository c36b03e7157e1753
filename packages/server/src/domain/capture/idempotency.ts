import { createHash } from 'node:crypto'
import type { Idempotency } from '@postroad/contract'
import { compilePlace, type CompiledPlace, type Placed } from './place.ts'

/** The compiled setting for the event key that an endpoint takes from its requests. */
export type CompiledIdempotency = Pick<CompiledPlace, 'path'> & {
  /** Identifies the setting, so that a different setting finds none of its keys. */
  readonly source: string
  /** undefined: the request has no key. */
  readonly keyOf: (of: Placed) => string | undefined
}

/** undefined when the endpoint has no such setting. */
export function compileIdempotency(idempotency: Idempotency): CompiledIdempotency | undefined {
  if (idempotency === null) return undefined
  const { source, path, textOf } = compilePlace(idempotency)
  return { source, path, keyOf: textOf }
}

/** SHA-256 in hex over unambiguously separated parts. */
export function digestOf(parts: readonly (string | null)[], body?: Uint8Array): string {
  const hash = createHash('sha256').update(JSON.stringify(parts))
  return (body === undefined ? hash : hash.update(body)).digest('hex')
}
