import { encodeId } from '@postroad/contract'
import { roleReaches } from '../../../domain/people/actor.ts'
import { insufficientRole } from '../../../domain/people/access.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { findProject } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { mintApiKey } from './mint.ts'
import { presentApiKey } from './present.ts'
import { findListedApiKey } from './queries.ts'

/** Creates a key of the calling person, with a role up to that of the person. */
export const create: Room<'apiKeys'>['create'] = (ctx, { name, role, project_id, expires_at, ip_allowlist }) => {
  const { actor } = ctx
  if (actor.kind !== 'person') throw refuse('agent_not_permitted')
  if (!roleReaches(actor.role, role)) {
    const text = `A key cannot have a higher role than its creator, and yours is ${actor.role}. Choose that role or a lower one.`
    throw insufficientRole(text)
  }
  if (expires_at !== null && expires_at.getTime() <= ctx.clock.now())
    throw refuse('invalid_request', 'expires_at must be in the future, or null for a key that never expires.')
  // oxlint-disable-next-line house/verb-guards -- mintApiKey writes the audit row
  return inTransaction(ctx, async (tx) => {
    if (project_id !== null && (await findProject(tx.db, { ...tx, projectId: project_id })) === undefined) {
      throw refuse('not_found', 'project_id: the workspace has no project with this id. Check the id.')
    }
    const { id, key } = await mintApiKey(tx, {
      name,
      role,
      project_id,
      expires_at,
      ip_allowlist,
      created_by: actor.userId,
    })
    const row = await findListedApiKey(tx.db, { ...tx, id })
    if (row === undefined) throw new Error(`The key ${encodeId('apiKey', id)} disappeared during its creation.`)
    return { api_key: presentApiKey(tx, row), key }
  })
}
