import { encodeId, type Scope } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { findMember } from '../users/index.ts'
import { grantIdOf } from './grant-id.ts'
import { upsertAgent } from './queries.ts'

export type Connecting = {
  readonly userId: string
  readonly workspaceId: string
  readonly scope: Scope
  readonly client: { readonly id: string; readonly name: string; readonly host: string | null }
  /** null: by a code on a device, which gets a separate connection. */
  readonly redirectHost: string | null
}

/** The consent of a person: connects a client to one of their workspaces, or continues its connection. Returns the id of the grant. */
export function connectAgent(ctx: Ctx, of: Connecting): Promise<string> {
  const { userId, workspaceId, scope, client, redirectHost } = of
  return inTransaction({ ...ctx, workspaceId }, async (tx) => {
    const member = await findMember(tx.db, { workspaceId, userId })
    if (member === undefined) throw refuse('not_found', 'You are not a member of this workspace. Choose another.')
    const { id, renewed } = await upsertAgent(tx.db, {
      workspaceId,
      id: tx.uuid(),
      user_id: userId,
      client_id: client.id,
      name: client.name,
      host: client.host,
      redirect_host: redirectHost,
      scope,
      now: new Date(tx.clock.now()),
    })
    await audit(tx, {
      action: renewed ? 'reconnect_agent' : 'connect_agent',
      target: encodeId('connectedAgent', id),
      details: { name: client.name, host: client.host, redirect_host: redirectHost, scope },
    })
    return grantIdOf({ workspaceId, id })
  })
}
