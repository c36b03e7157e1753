import { reject, type Receiver } from '../types.ts'
import { asksByHead, questionOf } from './check-handshake.ts'
import type { Check } from './passage.ts'

/**
 * The origin whose pages may read the answer, as the value of `Access-Control-Allow-Origin`; undefined when they may not.
 * Ingest keys are for servers and have no list: a key works from any origin.
 */
export function sharedWith({ webhook }: Receiver, origin: string): string | undefined {
  const origins = webhook?.origins
  if (origins === undefined) return '*'
  return origins.has(origin) ? origin : undefined
}

/** Servers send no Origin, and need none. */
export const checkCors: Check = (_deps, { captured: { headers }, receiver }) => {
  const { origin } = headers
  return origin === undefined || sharedWith(receiver, origin) !== undefined
    ? undefined
    : reject('cors_origin_not_allowed')
}

/**
 * A browser sends a preflight request before it posts. Only the origin decides here, so that every other refusal goes to the
 * request itself, whose answer the page may read. OPTIONS can be the question of a handshake too, which climbs on.
 */
export const checkPreflight: Check = (deps, passage) => {
  const { captured, receiver } = passage
  if (captured.asked.kind !== 'preflight') return undefined
  if (asksByHead(receiver.webhook, questionOf(captured, 'OPTIONS'))) return undefined
  return checkCors(deps, passage) ?? { kind: 'answered', with: 'preflight' }
}
