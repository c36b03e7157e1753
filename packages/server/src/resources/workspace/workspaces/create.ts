import { encodeId, LIMITS, RESERVED_ROOTS } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../audit/index.ts'
import { isOperator } from '../../operate/operators/index.ts'
import { findPlatformSettings } from '../../operate/platform-settings/index.ts'
import { insertUnderFreeSlug } from '../../free-slug.ts'
import { insertProject } from '../projects/index.ts'
import type { Room } from '../../verbs.ts'
import { personOf } from './person.ts'
import { presentOwn } from './present.ts'
import { countOwned, findFirstWorkspace, findWorkspace, insertMember, insertWorkspace, lockOwner } from './queries.ts'

/** Creates a workspace with a Default project, and makes its creator the owner. */
export const create: Room<'workspaces'>['create'] = (ctx, { name, slug }) => {
  const { userId } = personOf(ctx)
  return inTransaction(ctx, async (tx) => {
    await lockOwner(tx.db, userId)
    if ((await countOwned(tx.db, userId)) >= LIMITS.workspacesOwnedMax) throw refuse('workspace_limit_reached')
    const now = new Date(tx.clock.now())
    const id = tx.uuid()
    const { workspace_creation: creators, default_plan: standard } = await findPlatformSettings(tx.db)
    if (creators === 'operators' && !(await isOperator(tx, userId))) throw refuse('workspace_creation_closed')
    const plan = standard ?? (await planOfNew(tx))
    const row = await insertUnderFreeSlug(tx, {
      slug,
      name,
      fallback: 'workspace',
      insert: async (free) =>
        RESERVED_ROOTS.has(free) ? undefined : insertWorkspace(tx.db, { id, slug: free, name, plan, now }),
      taken: 'This slug is already in use on this server. Choose another.',
    })
    const inside = { ...tx, workspaceId: row.id }
    await insertMember(tx.db, { workspaceId: row.id, userId, role: 'owner', now })
    await insertProject(tx.db, {
      workspaceId: row.id,
      id: tx.uuid(),
      slug: 'default',
      name: 'Default',
      isDefault: true,
      now,
    })
    await audit(inside, { action: 'create_workspace', target: encodeId('workspace', row.id), details: { name } })
    return { workspace: presentOwn({ ...row, role: 'owner' }, { current: ctx.workspaceId }) }
  })
}

/** A new workspace is free, so it does not extend a paid plan. On a self-hosted installation, all have one plan. */
async function planOfNew(tx: Ctx): Promise<string> {
  const from = (await findWorkspace(tx.db, tx.workspaceId)) ?? (await findFirstWorkspace(tx.db))
  return from === undefined || from.plan === 'self_hosted' ? 'self_hosted' : 'free'
}
