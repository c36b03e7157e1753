import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { keepDeleted } from '../../workspace/snapshots/index.ts'
import { cancelOutstanding } from '../deliveries/index.ts'
import { presentDestination } from './present.ts'
import { deleteDestination, findDestination } from './queries.ts'

/** Deletes a destination and cancels its outstanding deliveries, alone or as a part of a larger transaction. */
export function removeDestination(ctx: Ctx, id: string) {
  return inTransaction(ctx, async (tx) => {
    const held = await findDestination(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    const deletion = await keepDeleted(tx, { kind: 'destination', id, name: held.name })
    await deleteDestination(tx.db, { ...tx, id })
    await cancelOutstanding(tx.db, { ...tx, destinationId: id, now: new Date(tx.clock.now()) })
    await audit(tx, {
      action: 'delete_destination',
      target: encodeId('destination', id),
      details: { name: held.name, deletion_id: deletion.id },
      change: { before: presentDestination(tx, held), after: null },
    })
    await configChanged(tx)
    const lane = { workspaceId: tx.workspaceId, destinationId: id }
    tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], disabled: true, deleted: true }))
    return { ok: true as const, deletion }
  })
}
