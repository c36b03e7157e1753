import type { Deps } from '../context.ts'
import type { Buckets } from '../platform/buckets.ts'
import type { Directory } from './directory.ts'
import type { KeyUses } from './key-uses.ts'
import type { Quarantine } from './quarantine/take.ts'
import type { Rejections } from './rejections.ts'
import type { Repeats } from './repeats.ts'
import type { Db } from '../platform/db.ts'
import { checkDatasets } from './route/check-datasets.ts'
import { route } from './route/route.ts'
import type { Announce } from './store/announce.ts'
import { said, type Commit } from './store/commit.ts'
import { rowsOf } from './store/event-rows.ts'
import type { FindRepeat } from './store/find-repeat.ts'
import type { Once } from './store/once.ts'
import { storeAlongside, type Storable } from './store/store-batch.ts'
import type { WaitForDatabase } from './store/wait-for-database.ts'
import type { Answered, Captured, Committed, Rejected, Repeated, Stored, Verified } from './types.ts'
import { isQuestion, verify } from './verify/ladder.ts'

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
  readonly repeats: Repeats
  readonly quarantine: Quarantine
  readonly commit: Commit
  readonly findRepeat: FindRepeat
  readonly waitForDatabase: WaitForDatabase
  readonly announce: Announce
}

/** The road of one event. Read this file first. */
export async function accept(road: Road, captured: Captured): Promise<Stored | Repeated | Answered | Rejected> {
  const verified = await verify(road, captured)
  if ('kind' in verified) return verified
  road.keyUses.note(verified.receiver)
  const attempt = async (): Promise<Committed> => {
    const routed = await route(road, verified)
    const checked = 'kind' in routed ? routed : (checkDatasets(routed) ?? routed)
    return 'kind' in checked ? ((await road.findRepeat(verified)) ?? checked) : road.commit(checked)
  }
  const stored = await road.once(verified.idempotency, () => road.waitForDatabase(verified, attempt))
  if (stored.kind === 'rejected') return road.rejections.note(verified, stored)
  if (stored.kind === 'duplicate') {
    road.repeats.duplicate(verified, stored)
    return { ...stored, response: verified.receiver.webhook?.response }
  }
  road.repeats.stored(stored.event)
  road.announce(stored)
  return stored
}

/** Whether a GET is the question of a handshake that an endpoint answers; `accept` then answers it. */
export const asksQuestion = (road: Road, captured: Captured): Promise<boolean> => isQuestion(road, captured)

/** The outcome for one event of `acceptAll`. `busy`: another process is storing the same key at this moment. */
export type Accepted = Committed | Answered

/** `acceptAll` of this process. */
export type AcceptAll = (
  captured: readonly Captured[],
  alongside: (tx: Db, outcomes: readonly Accepted[]) => Promise<void>,
) => Promise<readonly Accepted[]>

/**
 * The same road for events that no sender sent. One transaction stores all that pass, and runs `alongside` with every outcome,
 * so the position of a source, or the progress of a workflow, is committed with the events or not at all. If `alongside`
 * throws, all is rolled back. If the commit's answer is lost, this throws, and the caller reads its own rows.
 */
export async function acceptAll(
  road: Road,
  ...[captured, alongside]: Parameters<AcceptAll>
): Promise<readonly Accepted[]> {
  const verified = await Promise.all(captured.map((one) => verify(road, one)))
  const decided: (Storable | Answered | Rejected)[] = []
  // One after the other, so that their ids have the order in which the events came.
  // oxlint-disable-next-line no-await-in-loop -- as above
  for (const one of verified) decided.push('kind' in one ? one : await decideOne(road, one))
  const batch = decided.filter((one): one is Storable => !('kind' in one))
  let outcomes: readonly Accepted[] = []
  await storeAlongside(road, batch, async (tx, verdicts) => {
    let next = 0
    outcomes = decided.map((one) => ('kind' in one ? one : said(one.event, verdicts[next++])))
    await alongside(tx, outcomes)
  })
  for (const outcome of outcomes) if (outcome.kind === 'stored') road.announce(outcome)
  return outcomes
}

async function decideOne(road: Road, verified: Verified): Promise<Storable | Rejected> {
  const routed = await route(road, verified)
  const event = 'kind' in routed ? routed : (checkDatasets(routed) ?? routed)
  return 'kind' in event ? event : { event, rows: rowsOf(road, event) }
}
