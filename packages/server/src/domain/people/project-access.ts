import { encodeId, routes, type Route } from '@postroad/contract'
import type { Guards, NamedProject } from './access.ts'
import type { Actor } from './actor.ts'
import { refuse, type Refusal } from '../refusal.ts'

/** A key for one project may use that project by its id, and the workspace routes that the contract names; nothing else. */
export function projectRefusal(
  actor: Actor,
  asked: { route: Pick<Guards, 'area' | 'forOneProjectKeys'>; project: NamedProject },
): Refusal | undefined {
  if (actor.kind !== 'api_key' || actor.projectId === null) return undefined
  const { route, project } = asked
  if (route.area === 'project' && project.kind === 'named' && project.id === actor.projectId) return undefined
  if (route.area === 'workspace' && route.forOneProjectKeys === true) return undefined
  const usable = [`/admin/api/projects/${encodeId('project', actor.projectId)}/…`, ...WORKSPACE_ROUTES_OF_ONE_PROJECT]
  return refuse('project_out_of_scope', `This key is for one project. It can use only ${usable.join(', ')}.`)
}

const WORKSPACE_ROUTES_OF_ONE_PROJECT = Object.values(routes)
  .flatMap((verbs) => Object.values<Route>(verbs))
  .filter((route) => route.forOneProjectKeys === true)
  .map((route) => `/admin/api/${route.path}`)
