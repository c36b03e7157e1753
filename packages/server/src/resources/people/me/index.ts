import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { findDefaultProject } from '../../workspace/projects/index.ts'
import { findMember } from '../users/index.ts'
import type { Room } from '../../verbs.ts'
import { isOperator } from '../../operate/operators/index.ts'
import { findPlatformSettings } from '../../operate/platform-settings/index.ts'
import { findWorkspace } from '../../workspace/workspaces/index.ts'

export const me: Room<'me'> = {
  get: async (ctx) => {
    const { actor, workspaceId } = ctx
    if (actor.kind === 'system' || actor.kind === 'operator' || actor.kind === 'customer') throw refuse('unauthorized')
    const [user, workspace, project] = await Promise.all([
      findMember(ctx.db, { workspaceId, userId: actor.userId }),
      findWorkspace(ctx.db, workspaceId),
      findDefaultProject(ctx.db, workspaceId),
    ])
    if (user === undefined || workspace === undefined || project === undefined) throw refuse('unauthorized')
    const suspended = workspace.suspended_at !== null
    const { support_contact } = suspended ? await findPlatformSettings(ctx.db) : { support_contact: null }
    const operator = actor.kind === 'person' && (await isOperator({ ...ctx, db: ctx.database.forSystem }, actor.userId))
    const agent =
      actor.kind === 'agent'
        ? {
            agent: {
              id: encodeId('connectedAgent', actor.agentId),
              scopes: [...actor.scopes],
              manage_url: actor.manageUrl,
            },
          }
        : {}
    const key =
      actor.kind === 'api_key'
        ? {
            api_key: {
              id: encodeId('apiKey', actor.keyId),
              project_id: actor.projectId === null ? null : encodeId('project', actor.projectId),
            },
          }
        : {}
    return {
      user: { id: encodeId('user', user.id), name: user.name, email: user.email },
      role: actor.role,
      operator,
      workspace: {
        id: encodeId('workspace', workspace.id),
        slug: workspace.slug,
        name: workspace.name,
        suspended,
        suspended_reason: workspace.suspended_reason,
        support_contact,
        closed: workspace.closed_at !== null,
      },
      default_project: { id: encodeId('project', project.id), slug: project.slug },
      ...key,
      ...agent,
    }
  },
}
