import type { Deps } from '../context.ts'
import type { Buckets } from './buckets.ts'
import type { Directory } from './directory.ts'
import type { KeyUses } from './key-uses.ts'
import type { Rejections } from './rejections.ts'
import { checkDatasets } from './route/check-datasets.ts'
import { decide } from './route/decide.ts'
import type { Announce } from './store/announce.ts'
import type { Commit } from './store/commit.ts'
import type { FindRepeat } from './store/find-repeat.ts'
import type { Once } from './store/once.ts'
import type { Answered, Captured, Duplicate, Rejected, Stored } from './types.ts'
import { verify } from './verify/ladder.ts'

/**
 * The parts that the road uses: the process, the caches of credentials and of requests under way, the group commit, and the
 * announcement after it.
 */
export type Road = Deps & {
  readonly directory: Directory
  readonly buckets: Buckets
  readonly keyUses: KeyUses
  readonly once: Once
  readonly rejections: Rejections
  readonly commit: Commit
  readonly findRepeat: FindRepeat
  readonly announce: Announce
}

/** The road of one event. Read this file first. */
export async function accept(road: Road, captured: Captured): Promise<Stored | Duplicate | Answered | Rejected> {
  const verified = await verify(road, captured)
  if ('kind' in verified) return verified
  road.keyUses.note(verified.receiver)
  const stored = await road.once(verified.idempotency, async () => {
    const routed = await decide(road, verified)
    const checked = 'kind' in routed ? routed : (checkDatasets(routed) ?? routed)
    return 'kind' in checked ? ((await road.findRepeat(verified)) ?? checked) : road.commit(checked)
  })
  if (stored.kind === 'stored') road.announce(stored)
  return stored.kind === 'rejected' ? road.rejections.note(verified, stored) : stored
}
