import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { findDefaultProject } from '../../workspace/projects/index.ts'
import { findMember } from '../users/index.ts'
import type { Room } from '../../verbs.ts'
import { findWorkspace } from '../../workspace/workspaces/index.ts'

export const me: Room<'me'> = {
  get: async (ctx) => {
    const { actor, workspaceId } = ctx
    if (actor.kind === 'system') throw refuse('unauthorized')
    const [user, workspace, project] = await Promise.all([
      findMember(ctx.db, { workspaceId, userId: actor.userId }),
      findWorkspace(ctx.db, workspaceId),
      findDefaultProject(ctx.db, workspaceId),
    ])
    if (user === undefined || workspace === undefined || project === undefined) throw refuse('unauthorized')
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
      workspace: {
        id: encodeId('workspace', workspace.id),
        slug: workspace.slug,
        name: workspace.name,
        suspended: workspace.suspended_at !== null,
        closed: workspace.closed_at !== null,
      },
      default_project: { id: encodeId('project', project.id), slug: project.slug },
      ...key,
    }
  },
}
