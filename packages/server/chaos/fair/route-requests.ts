import { routes, type Route } from '@postroad/contract'
import { bodyExample } from '../../../contract/src/openapi/examples.ts'
import type { Rng } from '../../sim/rng.ts'
import type { Sent } from './attacker.ts'
import type { Tenant } from './attacking-tenant.ts'
import { largestLimit, largestMembers } from './largest-input.ts'

type Named = { readonly room: string; readonly verb: string; readonly route: Route }

const ALL: readonly Named[] = Object.entries(routes).flatMap(([room, verbs]) =>
  Object.entries<Route>(verbs).map(([verb, route]) => ({ room, verb, route })),
)
/** They would end the tenant itself. */
const LEFT_OUT = new Set(['workspaces.close', 'projects.remove', 'network.update', 'apiKeys.remove'])
/** Deletions come last, so that there is something to read before. */
const ORDER = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE']

/**
 * Requests for routes of the API, drawn by the seed, each with the largest page and with the largest value of a member that its
 * schema allows. Creates one resource of each kind first, so that ids exist.
 */
export async function routeRequests(
  { key, admin }: Tenant,
  { rng, count }: { readonly rng: Rng; readonly count: number },
): Promise<readonly Sent[]> {
  const ids = await resourcesOf(admin)
  const routed = ALL.filter(({ room, verb }) => !LEFT_OUT.has(`${room}.${verb}`))
  return rng
    .shuffled(routed)
    .slice(0, count)
    .toSorted((a, b) => ORDER.indexOf(a.route.method) - ORDER.indexOf(b.route.method))
    .map((named) => requestOf(named, { key, ids, rng }))
}

async function resourcesOf(admin: Tenant['admin']): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  for (const named of ALL) {
    const body = bodyExample(named)
    if (named.verb !== 'create' || named.route.path.includes('{') || body === undefined) continue
    // oxlint-disable-next-line no-await-in-loop -- one after another, as any client; some are refused, and then there is none
    const made = await admin<object>('POST', named.route.path, body).catch(() => ({}))
    const id = /"id":"([^"]+)"/.exec(JSON.stringify(made))?.[1]
    if (id !== undefined) ids.set(named.room, id)
  }
  return ids
}

type From = { readonly key: string; readonly ids: ReadonlyMap<string, string>; readonly rng: Rng }

function requestOf(named: Named, { key, ids, rng }: From): Sent {
  const { room, route } = named
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    name === 'id' ? (ids.get(room) ?? 'none') : 'none',
  )
  const limit = largestLimit(route)
  const members = [...largestMembers(route)]
  const grown = members.length === 0 ? {} : Object.fromEntries([rng.pick(members)])
  return {
    method: route.method,
    path: `/admin/api/${path}${limit === undefined ? '' : `?limit=${limit}`}`,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    text: route.body === undefined ? undefined : JSON.stringify({ ...bodyExample(named), ...grown }),
  }
}
