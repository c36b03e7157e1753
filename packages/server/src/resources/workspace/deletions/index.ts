import { encodeId, type IdKind, type RestorableKind } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { putBackTransform } from '../../delivery/transforms/index.ts'
import { putBackWorkflow } from '../../automation/workflows/index.ts'
import { putBackRule } from '../../capture/rules/index.ts'
import { putBackWebhook } from '../../capture/webhooks/index.ts'
import { putBackDestination } from '../../delivery/destinations/index.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../audit/index.ts'
import {
  listDeletions,
  lockDeletion,
  openSnapshot,
  setRestored,
  type DeletionRow,
  type HeldDeletion,
} from '../snapshots/index.ts'

export { finishDeletions } from './finish.ts'

/** Each kind of resource has its ids under the same name. */
const idKindOf = (kind: RestorableKind): IdKind => kind

const present = (row: DeletionRow) => ({
  id: encodeId('deletion', row.id),
  kind: row.kind,
  resource_id: encodeId(idKindOf(row.kind), row.resource_id),
  name: row.name,
  deleted_at: row.deleted_at.toISOString(),
  restorable_until: row.expires_at.toISOString(),
  actor: row.actor,
  agent: row.agent,
})

export const deletions: Room<'deletions'> = {
  list: async (ctx, { limit, cursor, kind }) => {
    const found = await listDeletions(ctx.db, {
      ...ctx,
      kind: kind ?? null,
      now: new Date(ctx.clock.now()),
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { deletions: rows.map(present), next_cursor }
  },

  restore: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const now = new Date(tx.clock.now())
      const row = restorable(await lockDeletion(tx.db, { ...tx, id }), now)
      const { after, more } = await putBackOne(tx, row)
      await setRestored(tx.db, { ...tx, id, now, resuming: more })
      const { kind, resource_id, name, deleted_at } = present(row)
      await audit(tx, {
        action: `restore_${kind}`,
        target: resource_id,
        details: { name, deletion_id: encodeId('deletion', id), deleted_at },
        change: { before: null, after },
      })
      return { restored: { kind, id: resource_id, name } }
    }),
}

type Restorable = DeletionRow & { readonly snapshot: Buffer }

/** Returns the deletion, or throws the reason why it cannot be undone. */
function restorable(row: HeldDeletion | undefined, now: Date): Restorable {
  if (row === undefined) throw refuse('not_found')
  const { snapshot, restored_at: restoredAt, expires_at: expiresAt } = row
  if (restoredAt !== null) throw refuse('invalid_state', `This was already restored at ${restoredAt.toISOString()}.`)
  if (snapshot === null || expiresAt <= now)
    throw refuse(
      'invalid_state',
      `This could be restored until ${expiresAt.toISOString()}, and Postroad has since erased it. Create the ${row.kind} again.`,
    )
  return { ...row, snapshot }
}

type PutBack = { readonly after: object; /** A loop resumes further deliveries. */ readonly more: boolean }

/** Puts the resource back, and returns it as the audit log shows it. */
async function putBackOne(tx: Ctx, row: Restorable): Promise<PutBack> {
  const copy = { ...openSnapshot(tx, row), id: row.resource_id }
  switch (row.kind) {
    case 'webhook':
      return { after: await putBackWebhook(tx, copy), more: false }
    case 'rule':
      return { after: await putBackRule(tx, copy), more: false }
    case 'workflow':
      return { after: await putBackWorkflow(tx, copy), more: false }
    case 'transform':
      return { after: await putBackTransform(tx, copy), more: false }
    case 'destination': {
      const { destination, more } = await putBackDestination(tx, { ...copy, deletedAt: row.deleted_at })
      return { after: destination, more }
    }
  }
}
