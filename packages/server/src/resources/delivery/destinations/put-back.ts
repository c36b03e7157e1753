import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { putBack, type Snapshot } from '../../workspace/snapshots/index.ts'
import { findAllowance } from '../../workspace/usage/index.ts'
import { lockTransform } from '../transforms/index.ts'
import { resumeCanceled } from '../deliveries/index.ts'
import { presentDestination } from './present.ts'
import { findDestination, hasCustomer } from './queries.ts'

type Deleted = Snapshot & { readonly id: string; readonly deletedAt: Date }

/**
 * Puts a deleted destination back, and resumes the first batch of the deliveries that its deletion canceled; a loop
 * resumes the rest. Its lane was not deleted, so requests of earlier senders still cannot change anything.
 */
export async function putBackDestination(tx: Ctx, deleted: Deleted) {
  const { id, deletedAt } = deleted
  const customer = customerIn(deleted)
  if (customer !== null && !(await hasCustomer(tx.db, { ...tx, customer })))
    throw refuse('invalid_state', 'The customer of this destination was deleted too, so it cannot be restored.')
  const row = (await putBack(tx, deleted)) ? await findDestination(tx.db, { ...tx, id }) : undefined
  if (row === undefined)
    throw refuse('name_taken', 'Another destination now has this name. Rename that destination, then restore this one.')
  if (row.transform_id !== null && !(await lockTransform(tx.db, { ...tx, id: row.transform_id, against: 'deletion' })))
    throw refuse('invalid_state', 'The transform of this destination was deleted too. Restore the transform first.')
  const { more } = await resumeDeleted(tx, { id, deletedAt, restoredAt: new Date(tx.clock.now()) })
  await configChanged(tx)
  return { destination: presentDestination(tx, row), more }
}

/** The customer of a portal who owned the destination; null: the project owned it. */
function customerIn({ parts }: Snapshot): string | null {
  const [row = '{}'] = parts.find(({ table }) => table === 'destinations')?.rows ?? []
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a row of the table, as PostgreSQL wrote it
  return (JSON.parse(row) as { portal_customer_id?: string | null }).portal_customer_id ?? null
}

type Between = { readonly id: string; readonly deletedAt: Date; readonly restoredAt: Date }

/** Resumes a batch of the deliveries that the deletion of a destination canceled. */
export async function resumeDeleted(
  tx: Ctx,
  { id, deletedAt, restoredAt }: Between,
): Promise<{ readonly more: boolean }> {
  const moved = await resumeCanceled(tx.db, {
    workspaceId: tx.workspaceId,
    projectId: tx.projectId,
    destinationId: id,
    since: deletedAt,
    until: restoredAt,
    now: new Date(tx.clock.now()),
    limited: (await findAllowance(tx)) !== null,
  })
  const lane = { workspaceId: tx.workspaceId, destinationId: id }
  tx.afterCommit?.(() => tx.lanesChanged({ lanes: [lane], disabled: false }))
  return moved
}
