import { encodeId, type RouteOutput, type routes } from '@postroad/contract'
import type { ListedAgentRow } from './queries.ts'

type Shown = RouteOutput<typeof routes.connectedAgents.get>['agent']

/** `userId`: the person who reads it. */
export function presentAgent(row: ListedAgentRow, { userId }: { userId: string | null }): Shown {
  const { last_call_at: calledAt, last_refusal_at: refusedAt } = row
  return {
    id: encodeId('connectedAgent', row.id),
    name: row.name,
    host: row.host,
    redirect_host: row.redirect_host,
    client_id: row.client_id,
    scope: row.scope,
    status: row.revoked_at === null ? 'active' : 'revoked',
    connected_by: {
      id: encodeId('user', row.user_id),
      name: row.user_name,
      email: row.user_email,
      role: row.user_role,
    },
    yours: row.user_id === userId,
    connected_at: row.connected_at.toISOString(),
    last_call: calledAt === null ? null : { at: calledAt.toISOString(), route: row.last_call ?? '' },
    last_refusal:
      refusedAt === null
        ? null
        : {
            at: refusedAt.toISOString(),
            route: row.last_refusal ?? '',
            reason: row.last_refusal_reason ?? '',
            required_scope: row.last_refusal_scope,
          },
    revoked_at: row.revoked_at?.toISOString() ?? null,
    revoked_by: row.revoked_by,
  }
}
