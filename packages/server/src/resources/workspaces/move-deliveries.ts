import type { Ctx } from '../../context.ts'
import { pauseOutstanding, resumePaused } from '../deliveries/index.ts'
import { lockDestinations } from '../destinations/index.ts'

export type Tx = Ctx & Required<Pick<Ctx, 'afterCommit'>>

/** A message between processes holds 8,000 bytes; one lane takes about 120. */
const LANES_TOLD_MAX = 50

/**
 * Pauses what waits in a workspace, or lets it go on; what else holds it back still does. The destinations are locked
 * first, as turns look at them: a turn that is under way ends before this.
 */
export async function moveDeliveries(tx: Tx, to: { halted: boolean; now: Date }): Promise<void> {
  const lanes = (await lockDestinations(tx.db, tx.workspaceId)).map(({ id }) => ({ workspaceId: tx.workspaceId, destinationId: id }))
  for (const lane of lanes) {
    const at = { ...lane, now: to.now }
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection, and each statement moves a bounded number of rows
    await (to.halted ? pauseOutstanding(tx.db, { ...at, reason: 'workspace_suspended' }) : resumePaused(tx.db, at))
  }
  tx.afterCommit(() => {
    for (let told = 0; told < lanes.length; told += LANES_TOLD_MAX) {
      tx.lanesChanged({ lanes: lanes.slice(told, told + LANES_TOLD_MAX), halted: to.halted })
    }
  })
}
