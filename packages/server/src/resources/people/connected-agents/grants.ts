import { encodeId, type Scope } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { findMember } from '../users/index.ts'
import { grantPlaceIn } from './grant-id.ts'
import { scopesUpTo } from './identify.ts'
import { findAgent, findConnections, hasAgents } from './queries.ts'

/** The grant as it is now; undefined: there is none, or it was revoked. */
export type Grant = { readonly clientId: string; readonly account: string; readonly scopes: readonly Scope[] }

export async function findGrant({ database }: Pick<Deps, 'database'>, grantId: string): Promise<Grant | undefined> {
  const place = grantPlaceIn(grantId)
  const agent = place === undefined ? undefined : await findAgent(database, place)
  if (place === undefined || agent === undefined || agent.revoked_at !== null) return undefined
  const member = await findMember(database, { workspaceId: place.workspaceId, userId: agent.user_id })
  if (member === undefined) return undefined
  return { clientId: agent.client_id, account: encodeId('user', agent.user_id), scopes: scopesUpTo(agent.scope) }
}

/** Whether any person has connected this client. */
export function isConnected({ database }: Pick<Deps, 'database'>, clientId: string): Promise<boolean> {
  return hasAgents(database, clientId)
}

/** The scope that this client already has, by workspace. */
export async function connectionsOf(
  { database }: Pick<Deps, 'database'>,
  of: { userId: string; clientId: string },
): Promise<ReadonlyMap<string, Scope>> {
  const found = await findConnections(database, of)
  return new Map(found.map(({ workspace_id, scope }) => [workspace_id, scope]))
}
