import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { audit, type AuditEntry } from '../../workspace/audit/index.ts'
import { findAddress, isOnlyOwner } from './queries.ts'

/** The installation has a separate audit log: the chain of this id, which no workspace has. */
export const INSTALLATION = '00000000-0000-0000-0000-000000000000'

/**
 * Whether a person operates the installation, judged again for each request: by their proven address and OPERATORS; without
 * OPERATORS the person who owns every workspace. `db` must see the members of every workspace.
 */
export async function isOperator({ config, db }: Pick<Ctx, 'config' | 'db'>, userId: string): Promise<boolean> {
  const { OPERATORS: addresses } = config
  if (addresses === undefined) return isOnlyOwner(db, userId)
  const address = await findAddress(db, userId)
  return typeof address === 'string' && addresses.includes(address.toLowerCase())
}

/**
 * The operator of a request, acting on a workspace. The audit log of the workspace names them as `operator`, without
 * the address that they work from.
 */
export function operatorIn(ctx: Ctx, workspaceId: string): Ctx {
  return { ...ctx, workspaceId, actor: operatorOf(ctx), ip: undefined }
}

/** Audits an operator's change to the whole installation. */
export function auditInstallation(tx: Ctx, entry: AuditEntry): Promise<void> {
  return audit({ ...tx, workspaceId: INSTALLATION, actor: operatorOf(tx) }, entry)
}

/** The routes of operators admit only people; this proves it to the compiler. */
export function operatorOf({ actor }: Pick<Ctx, 'actor'>): Ctx['actor'] & { readonly kind: 'operator' } {
  if (actor.kind !== 'person') throw refuse('agent_not_permitted')
  return { kind: 'operator', userId: actor.userId, role: 'viewer' }
}
