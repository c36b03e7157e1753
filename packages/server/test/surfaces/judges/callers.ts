import assert from 'node:assert/strict'
import { decodeId, ROLES, SCOPES, type Role, type Route, type Scope } from '@postroad/contract'
import { sql } from '../../../src/platform/db.ts'
import type { Mounted } from '../../../src/surfaces/admin/mount.ts'
import { assertRefused, database, home, world, type Heard, type Named } from '../../stage/admin-asking.ts'
import { aGrantedAgent } from '../../stage/agents-granted.ts'
import { isWhole } from '../../stage/eighths.ts'
import { signedIn } from '../../stage/fixtures.ts'
import { neighbor, stranger, victim } from '../../stage/houses.ts'
import { isLookedUp, nameOf, sendBare, urlsOf } from '../../stage/mounted.ts'
import { aKeyOf, aMember, type Headers, type Member } from '../../stage/people.ts'
import { inParallel, type Judge } from './judge.ts'

/** Every caller at every URL of a route. The expected answer follows from the flags of the route. */
const judgeOf = (promise: string, some: (caller: Caller) => boolean): Judge => ({
  promise,
  around: async (walk) => {
    everyone ??= Object.entries(await everybody())
    await walk()
  },
  judge: async (named) => {
    const all = (everyone ?? [])
      .filter(([, caller]) => some(caller))
      .flatMap(([who, caller]) =>
        urlsOf(named).flatMap((mounted) =>
          projectsFor(mounted, caller).map((project) => ({ who, caller, mounted, project })),
        ),
      )
    assert.ok(all.length > 0)
    await inParallel(all, 8, async ({ who, caller, mounted, project }) => {
      const wanted = expected(mounted, caller, project)
      outcomes.add(wanted?.reason ?? 'let in')
      const about = `${who}: ${nameOf(mounted)}`
      // The body lacks required members, so that the request has no effect.
      const answer = await sendBare(mounted, caller.headers, project)
      if (wanted === undefined) assertLetIn(mounted, { answer, project, about })
      else {
        assert.deepEqual({ status: answer.status, reason: answer.body.reason }, wanted, about)
        assertExplained(mounted, caller, answer)
      }
    })
  },
})

const people = judgeOf(
  'every person and every key is admitted, or refused with the reason that the flags of the route give',
  ({ refused, scope }) => refused === undefined && scope === undefined,
)
const agents = judgeOf(
  'every connected agent is admitted, or refused with the reason that the flags of the route give',
  ({ refused, scope }) => refused === undefined && scope !== undefined,
)
const nobody = judgeOf(
  'a caller without a credential, or with one that has ended, is refused by every route with the reason',
  ({ refused }) => refused !== undefined,
)

export const callers: readonly Judge[] = [
  people,
  agents,
  {
    ...nobody,
    around: async (walk, routes) => {
      await nobody.around?.(walk, routes)
      if (isWhole) assert.deepEqual([...outcomes].toSorted(), OUTCOMES)
    },
  },
]

const outcomes = new Set<string>()
const OUTCOMES = [
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
]

type Refused = { readonly status: number; readonly reason: string }
type Caller = {
  readonly headers: Headers
  /** The refusal of this caller on every route. */
  readonly refused?: Refused
  readonly role?: Role
  readonly isKey?: true
  /** The scope of a connected agent. */
  readonly scope?: Scope
  /** A cookie as a page of another site would send it: without the header that only pages of this server can send. */
  readonly isForeignPage?: true
  readonly onlyProject?: string
}
let everyone: readonly (readonly [who: string, caller: Caller])[] | undefined

/** Every member of the workspace of the victim, and callers without any right there. */
async function everybody(): Promise<Readonly<Record<string, Caller>>> {
  const { workspaceId } = victim
  const member = (role: Role): Promise<Member> => aMember(world, database, { workspaceId, role })
  const owner = await member('owner')
  const gone = await member('owner')
  const key = async (of: object): Promise<Headers> => (await aKeyOf(world, database, { ...owner, ...of })).headers
  const removed = await aKeyOf(world, database, gone)
  const orphaned = await aGrantedAgent(world, database, { ...gone, scope: 'service:manage' })
  const revoked = await aGrantedAgent(world, database, { ...owner, scope: 'service:manage', revoked: true })
  await database.run(sql`delete from members where user_id = ${gone.userId}`)
  const one = { projectId: decodeId('project', neighbor.project), onlyProject: neighbor.project }
  return {
    ...(await everyRole(member)),
    'a revoked agent': { headers: revoked.headers, refused: unauthorized('agent_revoked') },
    'an agent whose person was removed': { headers: orphaned.headers, refused: unauthorized('agent_revoked') },
    'a token that is not signed here': {
      headers: { authorization: `${revoked.headers['authorization']?.slice(0, -4)}AAAA` },
      refused: unauthorized('access_token_invalid'),
    },
    'a key of a demoted creator': {
      headers: (await aKeyOf(world, database, { ...(await member('viewer')), role: 'admin' })).headers,
      role: 'viewer',
      isKey: true,
    },
    'a key for one project': { headers: await key(one), role: 'admin', isKey: true, onlyProject: one.onlyProject },
    'a viewer key for one project': {
      headers: await key({ ...one, role: 'viewer' }),
      role: 'viewer',
      isKey: true,
      onlyProject: one.onlyProject,
    },
    'a cookie without X-Requested-With': {
      headers: { cookie: (await signedIn(world, owner, database))['cookie'] ?? '' },
      role: 'owner',
      isForeignPage: true,
    },
    nobody: { headers: {}, refused: unauthorized() },
    'an unknown key': { headers: { authorization: 'Bearer hk_unknown' }, refused: unauthorized() },
    'a key of another kind': { headers: { authorization: 'Bearer ik_live_x' }, refused: unauthorized() },
    'another scheme': { headers: { authorization: `Basic ${home.key}` }, refused: unauthorized() },
    'a scheme without a key': { headers: { authorization: 'Bearer' }, refused: unauthorized() },
    'a key without a scheme': { headers: { authorization: home.key }, refused: unauthorized() },
    'an expired key': {
      headers: await key({ expiresAt: new Date(world.clock.now()) }),
      refused: unauthorized('api_key_expired'),
    },
    'a revoked key': {
      headers: await key({ revokedAt: new Date(world.clock.now()) }),
      refused: unauthorized('api_key_revoked'),
    },
    'a key whose creator was removed': { headers: removed.headers, refused: unauthorized() },
  }
}

function unauthorized(reason = 'unauthorized'): Refused {
  return { status: 401, reason }
}

/** People, keys and agents of every role and scope. */
async function everyRole(member: (role: Role) => Promise<Member>): Promise<Readonly<Record<string, Caller>>> {
  const all: Record<string, Caller> = {}
  for (const role of ROLES) {
    all[`a ${role}`] = { headers: await signedIn(world, await member(role), database), role }
    if (role !== 'owner') {
      const { headers } = await aKeyOf(world, database, { ...(await member('owner')), role })
      all[`a ${role} key`] = { headers, role, isKey: true }
    }
    for (const scope of SCOPES) {
      const { headers } = await aGrantedAgent(world, database, { ...(await member(role)), scope })
      all[`an agent with ${scope} of a ${role}`] = { headers, role, scope }
    }
  }
  return all
}

/** The project decides whether a caller is admitted, also for a key that is restricted to one project. */
function projectsFor({ url }: Mounted, { role, onlyProject }: Caller): readonly string[] {
  if (!url.includes('{project_id}')) return [victim.project]
  if (onlyProject !== undefined) return [victim.project, neighbor.project, stranger.project, 'prj_nonsense']
  return role === 'owner' ? [victim.project, stranger.project] : [victim.project]
}

/** The refusal that the flags require; undefined: admitted. */
// oxlint-disable-next-line max-params -- the route, the caller, and the project
function expected(mounted: Mounted, caller: Caller, project: string): Refused | undefined {
  const { route } = mounted
  const { refused, role = 'viewer', isKey, scope, isForeignPage } = caller
  if (refused !== undefined) return refused
  if (isForeignPage === true && route.method !== 'GET') return { status: 403, reason: 'csrf_header_missing' }
  if (!isInside(mounted, caller, project)) return { status: 403, reason: 'project_out_of_scope' }
  if (route.callers === 'people' && (isKey === true || scope !== undefined))
    return { status: 403, reason: 'agent_not_permitted' }
  if (isAbove(route, role)) return { status: 403, reason: 'insufficient_role' }
  if (isBeyond(route, scope)) return { status: 403, reason: 'agent_scope_insufficient' }
  return undefined
}

/** A key for one project reaches its project, and a few routes of the workspace; every other caller is inside everywhere. */
// oxlint-disable-next-line max-params -- as above
function isInside({ route, url }: Mounted, { onlyProject }: Caller, project: string): boolean {
  if (onlyProject === undefined) return true
  return route.area === 'project'
    ? url.includes('{project_id}') && project === onlyProject
    : route.forOneProjectKeys === true
}

/** No member here is an operator, whatever their role is. */
const isAbove = (route: Route, role: Role): boolean =>
  route.operator === true || ROLES.indexOf(role) < ROLES.indexOf(route.role)

/** A connected agent with this scope may not call the route. */
const isBeyond = (route: Route, scope: Scope | undefined): boolean =>
  scope !== undefined && SCOPES.indexOf(scope) < SCOPES.indexOf(route.scope)

type Admitted = { readonly answer: Heard; readonly project: string; readonly about: string }

function assertLetIn(mounted: Mounted, { answer: { status, body }, project, about }: Admitted): void {
  const { room, verb } = mounted
  if (project === stranger.project || isLookedUp(mounted))
    assert.deepEqual([status, body.reason], [404, 'not_found'], about)
  // A workspace that has bought nothing; the route needs no body.
  else if (`${room}.${verb}` === 'billing.openPortal') assert.equal(body.reason, 'invalid_state', about)
  // A request for an export needs nothing more, and works only once.
  else
    assert.ok(
      [200, 400, ...(room === 'dataExport' ? [201, 409] : [])].includes(status),
      `${about}: ${status} ${body.reason}`,
    )
}

/** Each refusal is complete, and names the remedy. */
// oxlint-disable-next-line max-params -- the route, the caller, and the answer
function assertExplained(
  { route }: Pick<Named, 'route'>,
  { role = 'viewer', onlyProject }: Caller,
  answer: Heard,
): void {
  const { reason, error, code } = answer.body
  assertRefused(answer, answer.status, reason)
  if (reason === 'unauthorized') assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
  if (reason === 'agent_not_permitted' || reason === 'insufficient_role') assert.equal(code, reason)
  if (reason === 'insufficient_role' && route.operator !== true)
    assert.match(error, new RegExp(`^Insufficient role\\. .*${route.role}.*${role}.* Ask an `))
  if (reason === 'project_out_of_scope') assertOutside(answer, onlyProject ?? '')
}

/** The refusal of a key for one project lists the routes that it can use. */
export function assertOutside({ body: { error } }: Heard, project: string): void {
  for (const usable of [`/admin/api/projects/${project}/…`, '/admin/api/me', '/admin/api/destination-presets'])
    assert.ok(error.includes(usable), error)
}
