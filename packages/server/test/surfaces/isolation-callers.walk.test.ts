import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, ROLES, SCOPES, type Role, type Route, type Scope } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { type Mounted } from '../../src/surfaces/admin/mount.ts'
import { aGrantedAgent } from '../stage/agents-granted.ts'
import { signedIn } from '../stage/fixtures.ts'
import { aKeyOf, aMember, type Headers, type Member } from '../stage/people.ts'
import {
  world,
  database,
  victim,
  stranger,
  neighbor,
  EVERY,
  MOUNTED,
  nameOf,
  idsIn,
  shapeOf,
  isLookedUp,
  inParallel,
  sendBare,
  onIsolationStage,
} from '../stage/isolation-matrix.ts'

/**
 * Every mounted route, asked by every caller. The expected answer follows from the flags of the route; a new route is
 * included by itself.
 */
onIsolationStage()

test('this test knows every id that a route takes', () => {
  for (const mounted of MOUNTED) {
    const places = ['params', 'query', 'body'] as const
    const named = places.flatMap((place) =>
      // A customer_id is text that the owner of a portal chose, and belongs to the portal in the path.
      Object.keys(shapeOf(mounted.route[place])).filter(
        (name) => /(^|_)ids?$|^view$/.test(name) && name !== 'customer_id',
      ),
    )
    const known = places.flatMap((place) => idsIn(mounted, place).map(([name]) => name))
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
      `${nameOf(mounted)} takes an id of no known kind; add it to PLAIN`,
    )
    const inPath = [...mounted.route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    assert.deepEqual(
      inPath.filter((name) => name !== 'version' && !known.includes(name)),
      [],
      nameOf(mounted),
    )
  }
})

type Caller = {
  readonly headers: Headers
  /** The refusal of this caller on every route. */
  readonly refused?: { readonly status: number; readonly reason: string }
  readonly role?: Role
  readonly isKey?: true
  /** The scope of a connected agent. */
  readonly scope?: Scope
  /** A cookie as a page of another site would send it: without the header that only pages of this server can send. */
  readonly isForeignPage?: true
  readonly onlyProject?: string
}

/** Every member of the workspace of the victim, and people without any membership there. */
async function everybody(): Promise<Readonly<Record<string, Caller>>> {
  const { workspaceId } = victim
  const member = (role: Role): Promise<Member> => aMember(world, database, { workspaceId, role })
  const people = await Promise.all(
    ROLES.map(async (role) => [`a ${role}`, { headers: await signedIn(world, await member(role)), role }] as const),
  )
  const keys = await Promise.all(
    (['viewer', 'developer', 'admin'] as const).map(
      async (role) =>
        [
          `a ${role} key`,
          { headers: (await aKeyOf(world, database, { ...(await member('owner')), role })).headers, role, isKey: true },
        ] as const,
    ),
  )
  const owner = await member('owner')
  const gone = await member('owner')
  const key = async (of: object): Promise<Headers> => (await aKeyOf(world, database, { ...owner, ...of })).headers
  const removed = await aKeyOf(world, database, gone)
  const agents = await Promise.all(
    SCOPES.flatMap((scope) =>
      ROLES.map(async (role) => {
        const { headers } = await aGrantedAgent(world, database, { ...(await member(role)), scope })
        return [`an agent with ${scope} of a ${role}`, { headers, role, scope }] as const
      }),
    ),
  )
  const orphaned = await aGrantedAgent(world, database, { ...gone, scope: 'service:manage' })
  const revoked = await aGrantedAgent(world, database, { ...owner, scope: 'service:manage', revoked: true })
  await database.run(sql`delete from members where user_id = ${gone.userId}`)
  return {
    ...Object.fromEntries(people),
    ...Object.fromEntries(keys),
    ...Object.fromEntries(agents),
    'a revoked agent': { headers: revoked.headers, refused: { status: 401, reason: 'agent_revoked' } },
    'an agent whose person was removed': {
      headers: orphaned.headers,
      refused: { status: 401, reason: 'agent_revoked' },
    },
    'a token that is not signed here': {
      headers: { authorization: `${revoked.headers['authorization']?.slice(0, -4)}AAAA` },
      refused: { status: 401, reason: 'access_token_invalid' },
    },
    'a key of a demoted creator': {
      headers: (await aKeyOf(world, database, { ...(await member('viewer')), role: 'admin' })).headers,
      role: 'viewer',
      isKey: true,
    },
    'a key for one project': {
      headers: await key({ projectId: decodeId('project', neighbor.project) }),
      role: 'admin',
      isKey: true,
      onlyProject: neighbor.project,
    },
    'a cookie without X-Requested-With': {
      headers: { cookie: (await signedIn(world, owner))['cookie'] ?? '' },
      role: 'owner',
      isForeignPage: true,
    },
    nobody: { headers: {}, refused: { status: 401, reason: 'unauthorized' } },
    'an unknown key': {
      headers: { authorization: 'Bearer hk_unknown' },
      refused: { status: 401, reason: 'unauthorized' },
    },
    'an expired key': {
      headers: await key({ expiresAt: new Date(world.clock.now()) }),
      refused: { status: 401, reason: 'api_key_expired' },
    },
    'a revoked key': {
      headers: await key({ revokedAt: new Date(world.clock.now()) }),
      refused: { status: 401, reason: 'api_key_revoked' },
    },
    'a key whose creator was removed': { headers: removed.headers, refused: { status: 401, reason: 'unauthorized' } },
  }
}

/** The refusal that the flags require; undefined: admitted. */
function expected(
  { route, url }: Mounted,
  { refused, role = 'viewer', isKey, scope, isForeignPage, onlyProject }: Caller,
  project: string,
): { status: number; reason: string } | undefined {
  if (refused !== undefined) return refused
  if (isForeignPage === true && route.method !== 'GET') return { status: 403, reason: 'csrf_header_missing' }
  const inside = isInside({ route, url }, { onlyProject, project })
  if (!inside) return { status: 403, reason: 'project_out_of_scope' }
  if (route.callers === 'people' && (isKey === true || scope !== undefined))
    return { status: 403, reason: 'agent_not_permitted' }
  if (isAbove(route, role)) return { status: 403, reason: 'insufficient_role' }
  if (isBeyond(route, scope)) return { status: 403, reason: 'agent_scope_insufficient' }
  return undefined
}

/** A key for one project reaches its project, and a few routes of the workspace; every other caller is inside everywhere. */
function isInside(
  { route, url }: Pick<Mounted, 'route' | 'url'>,
  { onlyProject, project }: { onlyProject: string | undefined; project: string },
): boolean {
  if (onlyProject === undefined) return true
  return route.area === 'project'
    ? url.includes('{project_id}') && project === onlyProject
    : route.forOneProjectKeys === true
}

/** A connected agent with this scope may not call the route. */
const isBeyond = (route: Route, scope: Scope | undefined): boolean =>
  scope !== undefined && SCOPES.indexOf(scope) < SCOPES.indexOf(route.scope)

/** No member here is an operator, whatever their role is. */
const isAbove = (route: Route, role: Role): boolean =>
  route.operator === true || ROLES.indexOf(role) < ROLES.indexOf(route.role)

test('every route × every caller: admitted, or refused with the reason that the flags of the route give', async () => {
  const asked = new Set<string>()
  const outcomes = new Set<string>()
  const all = Object.entries(await everybody()).flatMap(([who, caller]) =>
    EVERY.flatMap((mounted) => projectsFor(mounted, caller).map((project) => ({ who, caller, mounted, project }))),
  )
  await inParallel(all, async ({ who, caller, mounted, project }) => {
    const wanted = expected(mounted, caller, project)
    const said = `${who}: ${nameOf(mounted)}`
    // The body lacks required members, so that the request has no effect.
    const { status, reason } = await sendBare(mounted, caller.headers, project)
    asked.add(nameOf(mounted))
    outcomes.add(wanted?.reason ?? 'let in')
    if (wanted !== undefined) assert.deepEqual({ status, reason }, wanted, said)
    else if (project === stranger.project || isLookedUp(mounted))
      assert.deepEqual([status, reason], [404, 'not_found'], said)
    // This server takes no payments, and the route needs no body.
    else if (nameOf(mounted).startsWith('billing.openPortal')) assert.equal(reason, 'billing_not_configured', said)
    // A request for an export needs nothing more, and works only once.
    else
      assert.ok(
        [200, 400, ...(mounted.room === 'dataExport' ? [201, 409] : [])].includes(status),
        `${said}: ${status} ${reason}`,
      )
  })
  assert.deepEqual([...asked].toSorted(), EVERY.map(nameOf).toSorted(), '100 % of the routes')
  assert.deepEqual([...outcomes].toSorted(), [
    'access_token_invalid',
    'agent_not_permitted',
    'agent_revoked',
    'agent_scope_insufficient',
    'api_key_expired',
    'api_key_revoked',
    'csrf_header_missing',
    'insufficient_role',
    'let in',
    'project_out_of_scope',
    'unauthorized',
  ])
})

/** The project decides whether a caller is admitted, also for a key that is restricted to one project. */
function projectsFor({ url }: Mounted, { role, onlyProject }: Caller): readonly string[] {
  if (!url.includes('{project_id}')) return [victim.project]
  if (onlyProject !== undefined) return [victim.project, neighbor.project, stranger.project]
  return role === 'owner' ? [victim.project, stranger.project] : [victim.project]
}
