import { encodeId, decodeId } from '@postroad/contract'

/** A Request-Id of ingest names what the request left behind, so that nothing has to be stored to find it again. */

const PREFIX = 'req_'
const NAMED = /^req_([0-9a-z]{26})(?:_\w+)?$/

/**
 * The Request-Id of a request that led to the submission or rejection with this UUID. `mark` tells requests with the same
 * one apart: repeats, and refusals of the same minute.
 */
export function requestIdFor(uuid: string, mark?: string): string {
  const named = PREFIX + encodeId('submission', uuid).slice(PREFIX.length)
  return mark === undefined ? named : `${named}_${mark}`
}

/** The UUID of what the request left behind; undefined: the text is no Request-Id, or the request left nothing. */
export function leftBehind(requestId: string): string | undefined {
  const [, named] = NAMED.exec(requestId) ?? []
  return named === undefined ? undefined : decodeId('submission', `sub_${named}`)
}
