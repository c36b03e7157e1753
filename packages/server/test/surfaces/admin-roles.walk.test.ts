import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeId, ROLES, signInRoutes, type SignInRoute } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import {
  aKey,
  ALL,
  ask,
  askBy,
  assertRefused,
  call,
  database,
  enterPlaces,
  home,
  leavePlaces,
  world,
  type Asked,
  type Named,
  type Place,
} from '../stage/admin-asking.ts'
import { aProjectIn } from '../stage/example-resources.ts'
import { example } from '../stage/route-examples.ts'

/** Permission to call each admin route, by role, key and status of the workspace (contract parts 1 and 5). */
before(enterPlaces)
after(leavePlaces)

test('each role may call the routes that the contract lists, and no route above it', async () => {
  for (const role of ['viewer', 'developer', 'admin'] as const) {
    const key = await aKey(home, { role })
    for (const named of ALL) {
      const may = ROLES.indexOf(role) >= ROLES.indexOf(named.route.role)
      // A caller without permission is refused before anything is looked up.
      const answer = await askBy({ key }, named, { asked: may ? await example(named, home) : {} })
      if (named.route.callers === 'people') {
        assertRefused(answer, 403, 'agent_not_permitted')
        assert.equal(answer.body.code, 'agent_not_permitted')
      } else if (may) assert.equal(answer.status, named.route.status, `${role} ${named.name}: ${answer.text}`)
      else {
        assertRefused(answer, 403, 'insufficient_role')
        assert.equal(answer.body.code, 'insufficient_role')
        assert.match(answer.body.error, new RegExp(`^Insufficient role\\. .*${named.route.role}.*${role}.* Ask an `))
      }
    }
  }
})

test('a key is capped at the current permissions of its creator, and ends with its creator', async () => {
  const key = await aKey(home, { role: 'admin', of: 'developer' })
  assert.equal((await call({ key }, 'POST projects', { body: { name: 'x' } })).body.reason, 'insufficient_role')
  assert.equal((await call({ key }, 'GET me')).body.role, 'developer')
  await database.run(sql`update members set role = 'viewer' where role = 'developer'`)
  assert.equal((await call({ key }, 'POST datasets', { body: { name: 'x' } })).body.reason, 'insufficient_role')
  await database.run(sql`delete from members where role = 'viewer'`)
  assertRefused(await call({ key }, 'GET me'), 401, 'unauthorized')
})

test('a key that has expired or was revoked gets 401 with the cause', async () => {
  const key = await aKey(home, { role: 'admin', expiresAt: new Date(world.clock.now() + 60_000) })
  assert.equal((await call({ key }, 'GET me')).status, 200)
  world.clock.advance(60_000)
  assertRefused(await call({ key }, 'GET me'), 401, 'api_key_expired')
  const other = await aKey(home, { role: 'admin' })
  await database.run(sql`update api_keys set revoked_at = now() where shown_prefix = ${other.slice(0, 11)}`)
  assertRefused(await call({ key: other }, 'GET me'), 401, 'api_key_revoked')
})

/** A project, and two keys that are restricted to it: of an admin, and of a viewer. */
async function insideAProject(): Promise<{ readonly inside: Place; readonly keys: readonly string[] }> {
  const { params } = await aProjectIn(home)
  const project = params?.['id'] ?? ''
  const projectId = decodeId('project', project) ?? ''
  const key = await aKey(home, { role: 'admin', projectId })
  return { inside: { ...home, key, project }, keys: [key, await aKey(home, { role: 'viewer', projectId })] }
}

function assertOutside(answer: Awaited<ReturnType<typeof askBy>>, { project }: Place): void {
  assertRefused(answer, 403, 'project_out_of_scope')
  for (const usable of [`/admin/api/projects/${project}/…`, '/admin/api/me', '/admin/api/destination-presets'])
    assert.ok(answer.body.error.includes(usable), answer.body.error)
}

test('a key for one project gets the list of the routes that it can use on every other route, before role and never-list', async () => {
  const { inside, keys } = await insideAProject()
  const asked: Asked = { params: {} }
  for (const key of keys) {
    for (const named of ALL) {
      const projects = named.route.area === 'project' ? [undefined, home.project, 'prj_nonsense'] : [undefined]
      if (named.route.forOneProjectKeys === true) continue
      for (const project of projects)
        assertOutside(await askBy({ key }, named, { asked, ...(project === undefined ? {} : { project }) }), inside)
    }
    for (const route of Object.values<SignInRoute>(signInRoutes).filter(({ caller }) => caller === 'session')) {
      const line = `${route.method} ${route.path.replaceAll(/\{\w+\}/g, 'x')}`
      assertOutside(await call({ key }, line, { headers: { 'x-requested-with': 'test' } }), inside)
    }
  }
})

test('a key for one project reaches that project and /me', async () => {
  const { inside } = await insideAProject()
  const { project } = inside
  for (const named of ALL.filter(({ route }) => route.area === 'project')) {
    const answer = await askBy(inside, named, { asked: { params: {} }, project })
    if (named.route.callers === 'people') assertRefused(answer, 403, 'agent_not_permitted')
    else assert.ok([200, 201, 400, 404].includes(answer.status), `${named.name}: ${answer.text}`)
  }
  const me = await call(inside, 'GET me')
  assert.equal(me.body.api_key.project_id, project)
  assert.equal((await call(inside, `POST projects/${project}/datasets`, { body: { name: 'mine' } })).status, 201)
})

test('while the workspace is suspended reads continue, and each write is refused', async () => {
  const examples: { readonly named: Named; readonly asked: Asked }[] = []
  for (const named of ALL) examples.push({ named, asked: await example(named, home) })
  await database.run(sql`update workspaces set suspended_at = now()`)
  try {
    for (const { named, asked } of examples) {
      const answer = await ask(named, home, { asked })
      // The invite of the example is to the suspended workspace; an invite to another one can be accepted
      // (invites.extended.test.ts).
      if (named.route.whileSuspended === 'refused' || named.name === 'invites.accept')
        assertRefused(answer, 403, 'workspace_suspended')
      else assert.equal(answer.status, named.route.status, named.name)
    }
    assert.equal((await call(home, 'GET me')).body.workspace.suspended, true)
  } finally {
    await database.run(sql`update workspaces set suspended_at = null`)
  }
})
