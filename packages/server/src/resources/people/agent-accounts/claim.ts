import { encodeId, LIMITS } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import { inTransaction } from '../../../transaction.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { countOwned, findWorkspace, insertMember, lockOwner, personOf } from '../../workspace/workspaces/index.ts'
import { setRole } from '../members/index.ts'
import { moveSession } from '../sessions/index.ts'
import { presentAccount } from './present.ts'
import { lockByClaim, setClaimed } from './queries.ts'

/** Makes the person the owner in one commit, so the workspace always has one. The agent becomes an admin, like its key. */
export const claim: Room<'agentAccounts'>['claim'] = (ctx, { claim_token: token }) => {
  const { userId, sessionId } = personOf(ctx)
  return inTransaction(ctx, async (tx) => {
    await lockOwner(tx.db, userId)
    const found = await lockByClaim(tx.db, hashCredential(token))
    const workspace = found === undefined ? undefined : await findWorkspace(tx.db, found.workspace_id)
    if (found === undefined || workspace === undefined) throw refuse('claim_over')
    if ((await countOwned(tx.db, userId)) >= LIMITS.workspacesOwnedMax) throw refuse('workspace_limit_reached')
    const { workspace_id: workspaceId, id } = found
    const now = new Date(tx.clock.now())
    await insertMember(tx.db, { workspaceId, userId, role: 'owner', now })
    await setRole(tx.db, { workspaceId, userId: found.user_id, from: 'owner', to: 'admin' })
    const row = await setClaimed(tx.db, { workspaceId, id, userId, now })
    await moveSession(tx, { id: sessionId, workspaceId })
    await audit(
      { ...tx, workspaceId },
      {
        action: 'claim_agent_account',
        target: encodeId('agentAccount', id),
        details: { user: encodeId('user', userId) },
      },
    )
    const { slug, name } = workspace
    return { account: presentAccount(row), workspace: { id: encodeId('workspace', workspaceId), slug, name } }
  })
}
