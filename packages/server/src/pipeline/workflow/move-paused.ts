import type { Deps } from '../../context.ts'
import type { Db } from '../../platform/db.ts'
import {
  deletePause,
  lockPauses,
  pauseInstances,
  setPhase,
  unpauseInstances,
  type PauseRow,
} from '../../resources/automation/workflow-instances/pauses/queries.ts'
import type { Moved } from './ports.ts'

const ROWS_MAX = 500
/** Ingest may accept events for half a second after a suspension, so the search for instances lasts a little longer. */
const LATE_MS = 5_000

/**
 * Moves some instances of each workspace that was suspended or reinstated, in one short commit. All of them are paused before the
 * first one resumes, so that each has exactly the time that it had left.
 */
export function movePaused({ database, clock }: Deps): Promise<Moved> {
  return database.transaction(async (db) => {
    let more = false
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    for (const row of await lockPauses(db)) more = (await moveOne(db, { row, now: clock.now() })) || more
    return { more }
  })
}

/** Returns whether there is more to do immediately. */
async function moveOne(db: Db, { row, now }: { readonly row: PauseRow; readonly now: number }): Promise<boolean> {
  const { workspace_id: workspaceId, phase, halted_at: haltedAt, resumed_at: resumedAt } = row
  switch (phase) {
    case 'pausing': {
      if ((await pauseInstances(db, { workspaceId, haltedAt, limit: ROWS_MAX })) > 0) return true
      if (resumedAt === null && now < haltedAt.getTime() + LATE_MS) return false
      await setPhase(db, { workspaceId, from: 'pausing', to: 'paused' })
      return resumedAt !== null
    }
    case 'paused': {
      if (resumedAt === null) return false
      await setPhase(db, { workspaceId, from: 'paused', to: 'resuming' })
      return true
    }
    case 'resuming': {
      if (resumedAt === null) return false
      if ((await unpauseInstances(db, { workspaceId, resumedAt, limit: ROWS_MAX })) > 0) return true
      await deletePause(db, workspaceId)
      // The engine may take them now.
      return true
    }
  }
}
