import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import type { Room } from '../../verbs.ts'
import { deleteCredentialsOf } from '../../capture/credentials/index.ts'
import { deleteExpiredKeys, findApiKey, revokeApiKey, revokeKeysFrom, revokeKeysOf, type KeyOrigin } from './queries.ts'

/** The row of the key stays, so that a later use gets the reason `api_key_revoked`. */
export const remove: Room<'apiKeys'>['remove'] = (ctx, { id }) =>
  inTransaction(ctx, async (tx) => {
    if ((await findApiKey(tx.db, { ...tx, id })) === undefined) throw refuse('not_found')
    const revoked = await revokeApiKey(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })
    if (revoked > 0) await auditRevoked(tx, id)
    return { ok: true }
  })

/** Revokes the keys that a person created here, each with its audit row. Returns how many. */
export async function revokeApiKeysOf(tx: Ctx, { userId }: { userId: string }): Promise<number> {
  const revoked = await revokeKeysOf(tx.db, {
    workspaceId: tx.workspaceId,
    createdBy: userId,
    now: new Date(tx.clock.now()),
  })
  // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
  for (const id of revoked) await auditRevoked(tx, id)
  return revoked.length
}

/** Revokes the keys that `bootstrap` or the command line created here, each with its audit row. */
export async function revokeApiKeysFrom(tx: Ctx, origin: KeyOrigin): Promise<void> {
  const { workspaceId } = tx
  const revoked = await revokeKeysFrom(tx.db, { workspaceId, origin, now: new Date(tx.clock.now()) })
  // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
  for (const id of revoked) await auditRevoked(tx, id)
}

/** Deletes expired keys of single commands, which would fill the list. The audit log still has their actions. */
export async function removeExpiredKeysOf(tx: Ctx, origin: KeyOrigin): Promise<void> {
  const { workspaceId } = tx
  const over = await deleteExpiredKeys(tx.db, { workspaceId, origin, now: new Date(tx.clock.now()) })
  // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
  for (const subjectId of over) await deleteCredentialsOf(tx.db, { workspaceId, subjectId })
}

const auditRevoked = (tx: Ctx, id: string): Promise<void> =>
  audit(tx, {
    action: 'revoke_api_key',
    target: encodeId('apiKey', id),
    change: { before: { status: 'active' }, after: { status: 'revoked' } },
  })
