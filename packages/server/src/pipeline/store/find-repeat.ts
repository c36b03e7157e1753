import type { Deps } from '../../context.ts'
import { findKeys } from '../../resources/capture/idempotency-keys/queries.ts'
import { unavailable, type Duplicate, type Rejected, type Verified } from '../types.ts'
import { answerToRepeat } from './admit.ts'
import { retainedSince } from './store-batch.ts'

/** The answer to an event that is a repeat; undefined when it is not one. */
export type FindRepeat = (verified: Verified) => Promise<Duplicate | Rejected | undefined>

/**
 * The commit finds repeats. This search is for an event that is refused before the commit: settings that refuse the
 * event today may have accepted the first one.
 */
export function createFindRepeat(deps: Deps): FindRepeat {
  return async ({ idempotency, receiver }) => {
    if (idempotency === undefined) return undefined
    const keys = [{ workspace_id: receiver.plan.workspaceId, key_hash: idempotency.hash }]
    try {
      const [row] = await findKeys(deps.database, { keys, since: retainedSince(deps.clock.now()) })
      return row === undefined ? undefined : answerToRepeat(idempotency, row)
    } catch (error) {
      deps.log.warn('ingest.keys_not_read', { keys: 1, cause: error })
      return unavailable
    }
  }
}
