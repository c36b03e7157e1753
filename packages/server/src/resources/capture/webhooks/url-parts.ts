import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findProject } from '../../workspace/projects/index.ts'
import { findWorkspace } from '../../workspace/workspaces/index.ts'
import type { UrlParts } from './present.ts'

/** The two slugs before the slug of the endpoint in its public URL. */
export async function urlParts(ctx: Ctx): Promise<UrlParts> {
  const [workspace, project] = await Promise.all([findWorkspace(ctx.db, ctx.workspaceId), findProject(ctx.db, ctx)])
  if (workspace === undefined || project === undefined) throw refuse('not_found')
  return { workspaceSlug: workspace.slug, projectSlug: project.slug }
}

/** 26 characters of base62 have 154 bits: the URL is the credential. */
const URL_SLUG_CHARS = 26

/** The last segment of a public URL, which cannot be guessed. */
export function mintUrlSlug(ctx: Pick<Ctx, 'randomText'>): string {
  return ctx.randomText(URL_SLUG_CHARS)
}
