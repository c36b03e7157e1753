import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, type Role } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { signedIn } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, aWorkspace, type Headers, type Member } from '../stage/people.ts'
import { sse } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The members of a workspace, their roles, and the end of a membership (contract parts 1, 3 and 5). */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)

type Somebody = Member & { readonly id: string; readonly headers: Headers }
type Team = Readonly<Record<Role, Somebody>> & { readonly workspaceId: string }

let made = 0

async function somebody(member: Member): Promise<Somebody> {
  return { ...member, id: encodeId('user', member.userId), headers: await signedIn(world, member) }
}

/** A separate workspace with one member of each role. */
async function aTeam(): Promise<Team> {
  made += 1
  const owner = await aWorkspace(world, database, `team-${made}`)
  const { workspaceId } = owner
  const join = async (role: Role): Promise<Somebody> => somebody(await aMember(world, database, { workspaceId, role }))
  return {
    workspaceId,
    owner: await somebody(owner),
    admin: await join('admin'),
    developer: await join('developer'),
    viewer: await join('viewer'),
  }
}

const roleOf = async (team: Team, who: Somebody): Promise<string | undefined> =>
  (
    await database.maybe<{ role: string }>(
      sql`select role from members where workspace_id = ${team.workspaceId} and user_id = ${who.userId}`,
    )
  )?.role
const audited = (team: Team) =>
  database.many<{ action: string; actor: string; target: string; details: string }>(
    sql`select action, actor, target, details from audit_rows where workspace_id = ${team.workspaceId} and action <> 'sign_in' order by id`,
  )
const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)

const setRole = (by: Somebody, whose: Somebody, role: Role): Promise<Answer> =>
  ask(world, `PATCH members/${whose.id}`, { headers: by.headers, body: { role } })
const remove = (by: Somebody, whose: Somebody): Promise<Answer> =>
  ask(world, `DELETE members/${whose.id}`, { headers: by.headers })
const leave = (who: Somebody): Promise<Answer> => ask(world, 'POST members/leave', { headers: who.headers })

test('admins and owners can list the members with role, address and date of joining', async () => {
  const team = await aTeam()
  const { body } = await ask(world, 'GET members', { headers: team.admin.headers })
  assert.deepEqual(
    body.members.map((member: { id: string; role: string }) => `${member.id} ${member.role}`).toSorted(),
    (['owner', 'admin', 'developer', 'viewer'] as const).map((role) => `${team[role].id} ${role}`).toSorted(),
  )
  assert.deepEqual(Object.keys(body.members[0]), ['id', 'name', 'email', 'role', 'joined_at'])
  assert.equal(said(await ask(world, 'GET members', { headers: team.developer.headers })), '403 insufficient_role')
})

test('a change of role applies immediately to the sessions and the API keys of the member', async () => {
  const team = await aTeam()
  const key = await aKeyOf(world, database, { ...team.developer, role: 'developer' })
  const changed = await setRole(team.admin, team.developer, 'viewer')
  assert.deepEqual([changed.status, changed.body.member.role], [200, 'viewer'])
  for (const headers of [team.developer.headers, key.headers]) {
    assert.equal(said(await ask(world, 'POST datasets', { headers, body: { name: 'x' } })), '403 insufficient_role')
    assert.equal((await ask(world, 'GET me', { headers })).body.role, 'viewer')
  }
  const [row] = await audited(team)
  assert.deepEqual(
    [row?.action, row?.actor, row?.target, row?.details],
    ['update_member', team.admin.id, team.developer.id, '{"from":"developer","to":"viewer"}'],
  )
})

test('nobody changes or gives a role above their own', async () => {
  const team = await aTeam()
  assert.equal(said(await setRole(team.admin, team.owner, 'viewer')), '403 insufficient_role')
  assert.equal(said(await setRole(team.admin, team.developer, 'owner')), '403 insufficient_role')
  assert.equal(said(await setRole(team.admin, team.admin, 'owner')), '403 insufficient_role')
  assert.equal(said(await setRole(team.developer, team.viewer, 'viewer')), '403 insufficient_role')
  assert.deepEqual(
    [await roleOf(team, team.owner), await roleOf(team, team.developer), await roleOf(team, team.admin)],
    ['owner', 'developer', 'admin'],
  )
  assert.equal(said(await setRole(team.owner, team.admin, 'owner')), '200')
})

test('the last owner cannot lose the role, be removed or leave; with another owner they can leave', async () => {
  const team = await aTeam()
  assert.equal(said(await setRole(team.owner, team.owner, 'admin')), '409 last_owner')
  assert.equal(said(await remove(team.owner, team.owner)), '409 last_owner')
  assert.equal(said(await leave(team.owner)), '409 last_owner')
  assert.equal(await roleOf(team, team.owner), 'owner')
  await setRole(team.owner, team.admin, 'owner')
  assert.equal(said(await leave(team.owner)), '200')
  assert.equal(await roleOf(team, team.owner), undefined)
})

test('of two owners who leave at the same time, one stays', async () => {
  const team = await aTeam()
  await setRole(team.owner, team.admin, 'owner')
  const answers = await Promise.all([leave(team.owner), leave(team.admin)])
  assert.deepEqual(answers.map(said).toSorted(), ['200', '409 last_owner'])
})

test('a removed member loses access immediately, by session and by key, and the keys stay revoked when the member comes back', async () => {
  const team = await aTeam()
  const key = await aKeyOf(world, database, team.developer)
  assert.equal(said(await remove(team.admin, team.developer)), '200')
  assert.equal(said(await ask(world, 'GET me', { headers: key.headers })), '401 api_key_revoked')
  assert.equal(said(await ask(world, 'GET projects', { headers: team.developer.headers })), '403 no_workspace')
  await database.run(
    sql`insert into members (workspace_id, user_id, role, created_at) values (${team.workspaceId}, ${team.developer.userId}, 'developer', now())`,
  )
  assert.equal(said(await ask(world, 'GET me', { headers: key.headers })), '401 api_key_revoked')
  assert.equal(said(await ask(world, 'GET me', { headers: team.developer.headers })), '200')
})

test('each key that ends with its creator has a separate row, whether the member was removed or has left; a key that was revoked before has none', async () => {
  for (const [end, action] of [
    [(team: Team) => remove(team.admin, team.developer), 'delete_member'],
    [(team: Team) => leave(team.developer), 'leave_workspace'],
  ] as const) {
    const team = await aTeam()
    const keys = [
      await aKeyOf(world, database, team.developer),
      await aKeyOf(world, database, { ...team.developer, expiresAt: new Date(world.clock.now()) }),
    ]
    await aKeyOf(world, database, { ...team.developer, revokedAt: new Date(world.clock.now()) })
    await aKeyOf(world, database, team.viewer)
    assert.equal(said(await end(team)), '200')
    const by = action === 'leave_workspace' ? team.developer : team.admin
    assert.deepEqual(
      (await audited(team)).map((row) => [row.action, row.actor, row.target, row.details]),
      [
        ...keys.map(({ id }) => [
          'revoke_api_key',
          by.id,
          id,
          '{"before":{"status":"active"},"after":{"status":"revoked"}}',
        ]),
        [action, by.id, team.developer.id, '{"role":"developer","api_keys_revoked":2,"agents_revoked":0}'],
      ],
    )
  }
})

test('an admin cannot remove an owner, a developer can remove nobody, and a person outside the workspace gets 404', async () => {
  const [team, others] = [await aTeam(), await aTeam()]
  assert.equal(said(await remove(team.admin, team.owner)), '403 insufficient_role')
  assert.equal(said(await remove(team.developer, team.viewer)), '403 insufficient_role')
  const foreign = await remove(team.owner, others.viewer)
  const random = await ask(world, `DELETE members/${encodeId('user', world.app.deps.uuid())}`, {
    headers: team.owner.headers,
  })
  assert.deepEqual([said(foreign), foreign.body], ['404 not_found', random.body])
  assert.equal(await roleOf(others, others.viewer), 'viewer')
})

test('the ownership moves to a member in one step: the previous owner becomes an admin', async () => {
  const team = await aTeam()
  const transfer = (by: Somebody, to: string): Promise<Answer> =>
    ask(world, 'POST ownership/transfer', { headers: by.headers, body: { user_id: to } })
  assert.equal(said(await transfer(team.admin, team.admin.id)), '403 insufficient_role')
  assert.equal(said(await transfer(team.owner, encodeId('user', world.app.deps.uuid()))), '404 not_found')
  assert.equal(said(await transfer(team.owner, team.owner.id)), '409 invalid_state')
  assert.equal(said(await transfer(team.owner, team.developer.id)), '200')
  assert.deepEqual([await roleOf(team, team.developer), await roleOf(team, team.owner)], ['owner', 'admin'])
  assert.equal(said(await transfer(team.owner, team.owner.id)), '403 insufficient_role')
  assert.deepEqual(
    (await audited(team)).map(({ action }) => action),
    ['transfer_ownership'],
  )
})

test('the open streams of a workspace end for a person who is removed from it, or moves to another one', async () => {
  const [team, elsewhere] = [await aTeam(), await aTeam()]
  const switched = (who: Somebody): Promise<Answer> =>
    ask(world, 'POST workspaces/switch', {
      headers: who.headers,
      body: { workspace_id: encodeId('workspace', elsewhere.workspaceId) },
    })
  for (const [who, end] of [
    [team.developer, () => remove(team.admin, team.developer)],
    [team.viewer, () => switched(team.viewer)],
  ] as const) {
    await database.run(
      sql`insert into members (workspace_id, user_id, role, created_at) values (${elsewhere.workspaceId}, ${who.userId}, 'viewer', now())`,
    )
    const client = await sse(`${world.baseUrl}/admin/api/stream`, { headers: who.headers })
    assert.equal((await end()).status, 200)
    for (let steps = 0; steps < 24; steps += 1) {
      world.clock.advance(250)
      await world.quiet()
    }
    await client.until(1)
    assert.deepEqual(
      client.events.map(({ type, data }) => [type, data]),
      [['closing', { reason: 'credential_revoked' }]],
    )
    await client.ended
  }
})

test('no API key can change a role, remove a member, leave or transfer the ownership, whatever its role', async () => {
  const team = await aTeam()
  const { headers } = await aKeyOf(world, database, { ...team.owner, role: 'admin' })
  for (const [line, body] of [
    [`PATCH members/${team.viewer.id}`, { role: 'developer' }],
    [`DELETE members/${team.viewer.id}`, undefined],
    ['POST members/leave', undefined],
    ['POST ownership/transfer', { user_id: team.viewer.id }],
  ] as const) {
    const answer = await ask(world, line, { headers, body })
    assert.deepEqual([said(answer), answer.body.code], ['403 agent_not_permitted', 'agent_not_permitted'], line)
  }
  assert.equal(said(await ask(world, 'GET members', { headers })), '200')
})

test('while the workspace is suspended a member can be removed and can leave, and no role can be changed', async () => {
  const team = await aTeam()
  await database.run(sql`update workspaces set suspended_at = now() where id = ${team.workspaceId}`)
  assert.equal(said(await setRole(team.owner, team.viewer, 'developer')), '403 workspace_suspended')
  assert.equal(
    said(
      await ask(world, 'POST ownership/transfer', { headers: team.owner.headers, body: { user_id: team.admin.id } }),
    ),
    '403 workspace_suspended',
  )
  assert.equal(said(await remove(team.admin, team.viewer)), '200')
  assert.equal(said(await leave(team.developer)), '200')
})
