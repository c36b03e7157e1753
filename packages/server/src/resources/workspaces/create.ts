import { encodeId, LIMITS, RESERVED_ROOTS } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { slugFrom } from '../../domain/slug.ts'
import { inTransaction } from '../../transaction.ts'
import { audit } from '../audit/index.ts'
import { insertProject } from '../projects/index.ts'
import type { Room } from '../verbs.ts'
import { personOf } from './person.ts'
import { presentOwn } from './present.ts'
import { countOwned, findFirstWorkspace, findWorkspace, insertMember, insertWorkspace, lockOwner, type WorkspaceRow } from './queries.ts'

/** Makes a workspace with a Default project, and its maker the owner. */
export const create: Room<'workspaces'>['create'] = (ctx, { name, slug }) => {
  const { userId } = personOf(ctx)
  return inTransaction(ctx, async (tx) => {
    await lockOwner(tx.db, userId)
    if ((await countOwned(tx.db, userId)) >= LIMITS.workspacesOwnedMax) throw refuse('workspace_limit_reached')
    const now = new Date(tx.clock.now())
    const row = await insertUnder(tx, { name, slug, plan: await planOfNew(tx), now })
    const inside = { ...tx, workspaceId: row.id }
    await insertMember(tx.db, { workspaceId: row.id, userId, role: 'owner', now })
    await insertProject(tx.db, { workspaceId: row.id, id: tx.uuid(), slug: 'default', name: 'Default', isDefault: true, now })
    await audit(inside, { action: 'create_workspace', target: encodeId('workspace', row.id), details: { name } })
    return { workspace: presentOwn({ ...row, role: 'owner' }, { current: ctx.workspaceId }) }
  })
}

/** Nobody gets out of a plan by making another workspace: who pays for one gets a free one, on an installation of one's own all are alike. */
async function planOfNew(tx: Ctx): Promise<string> {
  const from = (await findWorkspace(tx.db, tx.workspaceId)) ?? (await findFirstWorkspace(tx.db))
  return from === undefined || from.plan === 'self_hosted' ? 'self_hosted' : 'free'
}

const MARK_CHARS = 6

/** Under the slug that was asked for; else under one from the name, with a mark when that one is taken or reserved. */
async function insertUnder(tx: Ctx, of: { name: string; slug: string | undefined; plan: string; now: Date }): Promise<WorkspaceRow> {
  const { name, slug, plan, now } = of
  const own = slug ?? slugFrom(name, 'workspace')
  const id = tx.uuid()
  const found = RESERVED_ROOTS.has(own) ? undefined : await insertWorkspace(tx.db, { id, slug: own, name, plan, now })
  if (found !== undefined) return found
  if (slug !== undefined) throw refuse('slug_taken', 'This slug is already in use on this server. Choose another.')
  const marked = `${own.slice(0, 63 - MARK_CHARS - 1).replace(/-+$/, '')}-${tx.randomText(MARK_CHARS).toLowerCase()}`
  const made = await insertWorkspace(tx.db, { id, slug: marked, name, plan, now })
  if (made === undefined) throw refuse('slug_taken', 'No free slug was found for this name. Send a slug.')
  return made
}
