import { reject, type Receiver } from '../types.ts'
import type { Check } from './passage.ts'

/**
 * The origin whose pages may read the answer, as `Access-Control-Allow-Origin` says it; undefined when they may not.
 * Ingest keys are for servers and have no list: whoever holds one may use it anywhere.
 */
export function sharedWith({ webhook }: Receiver, origin: string): string | undefined {
  const origins = webhook?.origins
  if (origins === undefined) return '*'
  return origins.has(origin) ? origin : undefined
}

/** Servers send no Origin and are not asked for one. */
export const checkCors: Check = (_deps, { captured: { headers }, receiver }) => {
  const { origin } = headers
  return origin === undefined || sharedWith(receiver, origin) !== undefined
    ? undefined
    : reject('cors_origin_not_allowed')
}

/**
 * A browser asks before it posts. Only the origin decides, so that what else would be refused is refused to the request
 * itself, whose answer the page may read.
 */
export const checkPreflight: Check = (deps, passage) => {
  if (passage.captured.asked.kind !== 'preflight') return undefined
  return checkCors(deps, passage) ?? { kind: 'answered', with: 'preflight' }
}
