import { encodeId, SCOPES } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { insufficientRole } from '../../../domain/people/access.ts'
import { roleReaches } from '../../../domain/people/actor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, pageOf } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { personOf } from '../../workspace/workspaces/index.ts'
import { presentAgent } from './present.ts'
import { findListedAgent, listAgents, setScope, type ListedAgentRow } from './queries.ts'
import { endAgent } from './revoke.ts'

export { audienceOf } from './audience.ts'
export { connectAgent } from './connect.ts'
export { connectionsOf, findGrant, isConnected } from './grants.ts'
export { identifyAgent } from './identify.ts'
export { endGrant, revokeAgentsOf } from './revoke.ts'
export { noteCall, noteRefusal } from './seen.ts'

export const connectedAgents: Room<'connectedAgents'> = {
  list: async (ctx, { limit, cursor }) => {
    const found = await listAgents(ctx.db, {
      ...ctx,
      userId: ownOnly(ctx),
      before: afterCursor(cursor),
      limit: limit + 1,
    })
    const { rows, next_cursor } = pageOf(found, limit)
    return { agents: rows.map((row) => presentAgent(row, personOf(ctx))), next_cursor }
  },

  get: async (ctx, { id }) => ({ agent: presentAgent(await agentOf(ctx, id), personOf(ctx)) }),

  update: (ctx, { id, scope }) =>
    inTransaction(ctx, async (tx) => {
      const agent = await agentOf(tx, id)
      if (agent.revoked_at !== null) throw refuse('invalid_state', REVOKED)
      const widens = SCOPES.indexOf(scope) > SCOPES.indexOf(agent.scope)
      if (widens && agent.user_id !== personOf(tx).userId)
        throw insufficientRole('Only the person who connected this agent can widen its access. Ask that person.')
      if (scope !== agent.scope) {
        if ((await setScope(tx.db, { ...tx, id, scope })) === 0) throw refuse('invalid_state', REVOKED)
        await audit(tx, {
          action: 'update_agent',
          target: encodeId('connectedAgent', id),
          details: { name: agent.name },
          change: { before: { scope: agent.scope }, after: { scope } },
        })
      }
      return { agent: presentAgent({ ...agent, scope }, personOf(tx)) }
    }),

  remove: (ctx, { id }) =>
    // oxlint-disable-next-line house/verb-guards -- endAgent writes the audit row
    inTransaction(ctx, async (tx) => {
      await agentOf(tx, id)
      await endAgent(tx, { id, by: 'person' })
      return { ok: true }
    }),
}

const REVOKED = 'This agent was revoked. Connect it again instead.'

/** Admins see the agents of every member, and other members see their own. */
function ownOnly(ctx: Ctx): string | null {
  return roleReaches(ctx.actor.role, 'admin') ? null : personOf(ctx).userId
}

async function agentOf(ctx: Ctx, id: string): Promise<ListedAgentRow> {
  const agent = await findListedAgent(ctx.db, { ...ctx, id, userId: ownOnly(ctx) })
  if (agent === undefined) throw refuse('not_found')
  return agent
}
