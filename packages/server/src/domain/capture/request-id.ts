import { encodeId, decodeId } from '@postroad/contract'

/**
 * A Request-Id of ingest contains the id of the row that the request created, so that it can be found again without storing
 * anything.
 */

const PREFIX = 'req_'
const NAMED = /^req_([0-9a-z]{26})(?:_\w+)?$/

/**
 * The Request-Id of a request that led to the submission or rejection with this UUID. `mark` distinguishes requests with the
 * same UUID: repeats, and refusals of the same minute.
 */
export function requestIdFor(uuid: string, mark?: string): string {
  const named = PREFIX + encodeId('submission', uuid).slice(PREFIX.length)
  return mark === undefined ? named : `${named}_${mark}`
}

/** The UUID of the row that the request created; undefined: the text is not a Request-Id, or the request created no row. */
export function leftBehind(requestId: string): string | undefined {
  const [, named] = NAMED.exec(requestId) ?? []
  return named === undefined ? undefined : decodeId('submission', `sub_${named}`)
}
