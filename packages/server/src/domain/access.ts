import type { Route } from '@postroad/contract'
import { roleReaches, type Actor } from './actor.ts'
import { Refusal, refuse } from './refusal.ts'

type Asked = { readonly route: Pick<Route, 'role' | 'area' | 'path'>; readonly projectId: string | undefined }

/** (actor, route) → allowed, or the refusal. One place knows roles and one-project keys (contract part 5). */
export function refusalOf(actor: Actor, asked: Asked): Refusal | undefined {
  if (actor.kind === 'api_key' && actor.projectId !== null && !insideProject(actor.projectId, asked)) return refuse('project_out_of_scope')
  if (roleReaches(actor.role, asked.route.role)) return undefined
  return new Refusal('insufficient_role', {
    text: `This needs the role ${asked.route.role}, and yours is ${actor.role}. Ask an admin of the workspace.`,
    fields: { code: 'insufficient_role' },
  })
}

/** `projectId` is undefined on workspace routes and on the aliases of the Default project, which such a key may not use. */
function insideProject(keyProject: string, { route, projectId }: Asked): boolean {
  if (route.area === 'project') return projectId === keyProject
  return route.path === 'me'
}
