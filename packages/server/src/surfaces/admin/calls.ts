import { decodeId, READ, routes, type Route } from '@postroad/contract'
import { readAnswer } from '../../domain/json/raw-json.ts'
import { roleRefusal, scopeRefusal, type NamedProject } from '../../domain/people/access.ts'
import type { Actor } from '../../domain/people/actor.ts'
import type { RouteCall, RouteCalls } from '../route-calls.ts'
import { climb, ENTRANCE, OF_GRANT, OF_ROUTE } from './ladder.ts'
import { answerOf, contextOf, passageOf, verbOf } from './mount.ts'
import { callerOf, type Door, type Passage } from './passage.ts'

/**
 * The routes for a surface whose callers send bearer tokens. A call climbs the rest of the ladder and runs the same verb as a request
 * to the route.
 */
export function createRouteCalls(door: Door): RouteCalls {
  return {
    enter: async ({ request, reply, count }) => {
      const entrance: Passage = {
        ...passageOf(door, { ...READ, method: 'POST', area: 'workspace' }, { request, reply }),
        bearerOnly: true,
        counts: count,
      }
      await climb(door, entrance, ENTRANCE)
      return {
        actor: callerOf(entrance).actor,
        refuseAboveGrant: (asked) => refuseAboveGrant(door, entrance, asked),
        call: (asked) => callRoute(door, entrance, asked),
      }
    },
  }
}

async function callRoute(door: Door, entrance: Passage, asked: RouteCall): Promise<unknown> {
  const { room, verb, params, query, body } = asked
  const route = routeNamed(room, verb)
  const { actor } = callerOf(entrance)
  const passage: Passage = {
    ...entrance,
    route,
    call: `${room}.${verb}`,
    project: projectNamed(asked, route, actor),
    request: {
      id: entrance.request.id,
      method: route.method,
      url: `/admin/api/${route.path}`,
      headers: {},
      params,
      query,
      body: Object.keys(body).length === 0 ? undefined : JSON.stringify(body),
    },
  }
  await climb(door, passage, OF_ROUTE)
  const answer = await answerOf(contextOf(door, passage, route), { route, run: verbOf(room, verb) }, passage)
  return route.output.parse(readAnswer(answer))
}

/** No wider grant overrides the role of the person, so the call itself reports a role that is too low. */
async function refuseAboveGrant(
  door: Door,
  entrance: Passage,
  { room, verb }: Pick<RouteCall, 'room' | 'verb'>,
): Promise<void> {
  const route = routeNamed(room, verb)
  const { actor } = callerOf(entrance)
  if (roleRefusal(actor, route) !== undefined || scopeRefusal(actor, route) === undefined) return
  await climb(door, { ...entrance, route, call: `${room}.${verb}` }, OF_GRANT)
}

function routeNamed(room: string, verb: string): Route {
  const route = (routes as Readonly<Record<string, Readonly<Record<string, Route>>>>)[room]?.[verb]
  if (route === undefined) throw new Error(`There is no route ${room}.${verb}.`)
  return route
}

/** The project that the call names. A key for one project need not name it. */
function projectNamed({ project }: RouteCall, { area }: Route, actor: Actor): NamedProject {
  if (area !== 'project') return { kind: 'default' }
  if (project !== undefined) {
    const id = decodeId('project', project)
    return id === undefined ? { kind: 'unknown' } : { kind: 'named', id }
  }
  const only = actor.kind === 'api_key' ? actor.projectId : null
  return only === null ? { kind: 'default' } : { kind: 'named', id: only }
}
