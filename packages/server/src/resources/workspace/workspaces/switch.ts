import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../audit/index.ts'
import { moveSession } from '../../people/sessions/index.ts'
import { findMember } from '../../people/users/index.ts'
import type { Room } from '../../verbs.ts'
import { personOf } from './person.ts'
import { presentOwn } from './present.ts'
import { findWorkspace } from './queries.ts'

/** A workspace that the person is not in gives the same response as a missing one. The audit row is in the workspace that the person enters. */
export const switchWorkspace: Room<'workspaces'>['switch'] = (ctx, { workspace_id: workspaceId }) => {
  const { userId, sessionId } = personOf(ctx)
  return inTransaction(ctx, async (tx) => {
    const [row, member] = [await findWorkspace(tx.db, workspaceId), await findMember(tx.db, { workspaceId, userId })]
    if (row === undefined || member === undefined) throw refuse('not_found')
    await moveSession(tx, { id: sessionId, workspaceId })
    await audit({ ...tx, workspaceId }, { action: 'switch_workspace', target: encodeId('workspace', workspaceId) })
    return { workspace: presentOwn({ ...row, role: member.role }, { current: workspaceId }) }
  })
}
