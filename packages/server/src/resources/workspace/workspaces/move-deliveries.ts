import type { Ctx } from '../../../context.ts'
import { pauseOutstanding, resumePaused } from '../../delivery/deliveries/index.ts'
import { listDestinationIds } from '../../delivery/destinations/index.ts'
import { lanesChanged } from '../../delivery/lanes/index.ts'

export type Tx = Ctx & Required<Pick<Ctx, 'afterCommit'>>

/** Notifies the senders, after the commit, that a workspace was suspended or closed. */
export async function notifyLanesDisabled(tx: Tx): Promise<void> {
  const lanes = (await listDestinationIds(tx.db, tx.workspaceId)).map(({ id }) => ({
    workspaceId: tx.workspaceId,
    destinationId: id,
  }))
  tx.afterCommit(() => lanesChanged(tx, { lanes, disabled: true }))
}

/**
 * Pauses the waiting deliveries of a workspace that is suspended or closed by now, or resumes them; other reasons still hold them back. Each
 * destination is a separate commit, so that no turn of a sender waits for a whole workspace. The sweeps of the senders move the rest, or
 * everything if this process dies here.
 */
export async function moveDeliveries(
  deps: Pick<Ctx, 'database' | 'clock' | 'lanesChanged'>,
  to: { workspaceId: string; reason: 'workspace_suspended' | 'workspace_closed' | null },
): Promise<void> {
  const { database, clock } = deps
  for (const { id } of await listDestinationIds(database, to.workspaceId)) {
    const lane = { workspaceId: to.workspaceId, destinationId: id }
    const at = { ...lane, now: new Date(clock.now()) }
    // oxlint-disable-next-line no-await-in-loop -- short commits, one after another, so that other work runs in between
    await (to.reason !== null ? pauseOutstanding(database, { ...at, reason: to.reason }) : resumePaused(database, at))
    if (to.reason === null) lanesChanged(deps, { lanes: [lane], disabled: false })
  }
}
