import type { Ctx } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { findProject } from '../projects/index.ts'
import { findWorkspace } from '../workspaces/index.ts'
import type { UrlParts } from './present.ts'

/** The two slugs that stand before the endpoint's own in its public URL. */
export async function urlParts(ctx: Ctx): Promise<UrlParts> {
  const [workspace, project] = await Promise.all([findWorkspace(ctx.db, ctx.workspaceId), findProject(ctx.db, ctx)])
  if (workspace === undefined || project === undefined) throw refuse('not_found')
  return { workspaceSlug: workspace.slug, projectSlug: project.slug }
}
