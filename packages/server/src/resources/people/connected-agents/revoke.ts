import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { removeEntriesOf } from '../oauth-entries/index.ts'
import { grantIdOf, grantPlaceIn } from './grant-id.ts'
import { lockAgentsOf, revokeAgent, type AgentEnd } from './queries.ts'

/** Ends a connection, deletes its tokens, and writes an audit row with the reason. Does nothing when it has ended. */
export async function endAgent(tx: Ctx, { id, by }: { id: string; by: AgentEnd }): Promise<void> {
  const { workspaceId } = tx
  if ((await revokeAgent(tx.db, { workspaceId, id, by, now: new Date(tx.clock.now()) })) === 0) return
  await removeEntriesOf(tx, { grantId: grantIdOf({ workspaceId, id }) })
  await audit(tx, {
    action: 'revoke_agent',
    target: encodeId('connectedAgent', id),
    details: { by },
    change: { before: { status: 'active' }, after: { status: 'revoked' } },
  })
}

/** Ends the connection of a grant when the client signs out, or one of its tokens was used twice. */
export async function endGrant(
  deps: Deps,
  { grantId, by, requestId }: { grantId: string; by: AgentEnd; requestId: string },
): Promise<void> {
  const place = grantPlaceIn(grantId)
  if (place === undefined) return
  const { workspaceId, id } = place
  await inTransaction(asSystem(deps, { workspaceId, projectId: '', requestId }), (tx) => endAgent(tx, { id, by }))
}

/** Ends the connections that a person made in this workspace. Returns how many. */
export async function revokeAgentsOf(tx: Ctx, { userId }: { userId: string }): Promise<number> {
  const agents = await lockAgentsOf(tx.db, { workspaceId: tx.workspaceId, userId })
  // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
  for (const { id } of agents) await endAgent(tx, { id, by: 'left_workspace' })
  return agents.length
}
