import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, LIMITS, routes, type Route } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { randomText } from '../../src/platform/ids.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { EASY, registered } from '../stage/agent-registrations.ts'
import { signedIn } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aMember, ask, aWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Idempotency-Key on the POSTs about the workspaces of a person, which may move the session to another one
 * (docs/adr/0046): a repeat gets the answer of the first request, wherever the session is by then.
 */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { ROLES: 'web', LOG_LEVEL: 'silent', ...EASY }, loops: [] },
)

let made = 0

/** A person who is in two workspaces of other people; the session works in the first. */
async function aGuest(): Promise<
  Member & { readonly id: string; readonly headers: Headers; readonly first: string; readonly second: string }
> {
  made += 1
  const [first, second] = [
    await aWorkspace(world, database, `first-${made}`),
    await aWorkspace(world, database, `second-${made}`),
  ]
  const guest = await aMember(world, database, { workspaceId: first.workspaceId, role: 'developer' })
  await database.run(
    sql`insert into members (workspace_id, user_id, role, created_at) values (${second.workspaceId}, ${guest.userId}, 'viewer', now())`,
  )
  return {
    ...guest,
    id: encodeId('user', guest.userId),
    headers: await signedIn(world, guest),
    first: first.workspaceId,
    second: second.workspaceId,
  }
}

type Guest = Awaited<ReturnType<typeof aGuest>>

/** An invite to a third workspace, with the text of its token. */
async function aTokenFor(guest: Guest): Promise<string> {
  const [host, email, token] = [
    await aWorkspace(world, database, `host-${made}`),
    `guest-${made}@example.com`,
    randomText(43),
  ]
  await database.run(sql`update users set email = ${email} where id = ${guest.userId}`)
  await ask(world, 'POST invites', { headers: await signedIn(world, host), body: { email, role: 'viewer' } })
  await database.run(sql`update invites set token_hash = ${hashCredential(token)} where email = ${email}`)
  return token
}

/** Each such route with the request that a guest sends to it. */
const ASKED: Readonly<Record<string, (guest: Guest) => Promise<object> | object>> = {
  'agentAccounts.claim': async () => ({ claim_token: (await registered(world)).claim.token }),
  'members.leave': () => ({}),
  'invites.accept': async (guest) => ({ token: await aTokenFor(guest) }),
  'workspaces.create': () => ({ name: `Made ${made}` }),
  'workspaces.switch': ({ second }) => ({ workspace_id: encodeId('workspace', second) }),
}

const THEIRS = Object.entries(routes).flatMap(([room, verbs]) =>
  Object.entries<Route>(verbs).flatMap(([verb, route]) =>
    // The tests of operate/operators.test.ts ask the routes of operators.
    route.method === 'POST' && route.withoutWorkspace === true && route.operator !== true
      ? [{ name: `${room}.${verb}`, route }]
      : [],
  ),
)

test('these tests ask every POST about the workspaces of a person', () => {
  assert.deepEqual(THEIRS.map(({ name }) => name).toSorted(), Object.keys(ASKED).toSorted())
})

const send = (line: string, of: { headers: Headers; key?: string; body: object }): Promise<Answer> =>
  ask(world, line, {
    headers: { ...of.headers, ...(of.key === undefined ? {} : { 'idempotency-key': of.key }) },
    body: of.body,
  })
const replayed = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true'

/** Every fact about a person that such a request could change. */
async function stateOf({ userId, id }: Guest): Promise<object> {
  const memberships = await database.many(
    sql`select w.slug, m.role from members m join workspaces w on w.id = m.workspace_id where m.user_id = ${userId} order by w.slug`,
  )
  const rows = await database.many(
    sql`select action, target from audit_rows where actor = ${id} and action not like 'sign_%' order by at, id`,
  )
  return { memberships, rows }
}

for (const { name, route } of THEIRS) {
  test(`${name}: a repeat with the same key gets the stored answer with Idempotent-Replayed, and changes nothing`, async () => {
    const guest = await aGuest()
    const [line, body, key] = [`POST ${route.path}`, (await ASKED[name]?.(guest)) ?? assert.fail(), `key-${made}`]
    const had = await stateOf(guest)
    const first = await send(line, { headers: guest.headers, key, body })
    assert.deepEqual([first.status, replayed(first)], [route.status, false], JSON.stringify(first.body))
    const changed = await stateOf(guest)
    assert.notDeepEqual(changed, had)
    // In the session that it moved, again after that session was used, and in another one.
    for (const headers of [
      guest.headers,
      guest.headers,
      await signedIn(world, { ...guest, workspaceId: guest.second }),
    ]) {
      assert.ok((await ask(world, 'GET me', { headers })).status === 200)
      const again = await send(line, { headers, key, body })
      assert.deepEqual([again.status, replayed(again), again.body], [route.status, true, first.body])
    }
    assert.deepEqual(await stateOf(guest), changed)
    const other = await send(line, { headers: guest.headers, key, body: { ...body, name: 'Another' } })
    assert.deepEqual([other.status, other.body.reason], [422, 'idempotency_key_reused'])
  })
}

test('a person who leaves their last workspace, or creates their first one, gets the stored answer again too', async () => {
  const guest = await aGuest()
  await database.run(sql`delete from members where user_id = ${guest.userId} and workspace_id = ${guest.second}`)
  for (const [line, body, status] of [
    ['POST members/leave', {}, 200],
    ['POST workspaces', { name: `First of ${made}` }, 201],
  ] as const) {
    const answers = [
      await send(line, { headers: guest.headers, key: line.replaceAll(' ', '-'), body }),
      await send(line, { headers: guest.headers, key: line.replaceAll(' ', '-'), body }),
    ]
    assert.deepEqual(
      answers.map((answer) => [answer.status, replayed(answer)]),
      [
        [status, false],
        [status, true],
      ],
    )
  }
  assert.equal((await ask(world, 'GET workspaces', { headers: guest.headers })).body.workspaces.length, 1)
})

test('people who are in no workspace have separate keys', async () => {
  const nobodies = [await aGuest(), await aGuest()]
  for (const { userId, headers } of nobodies) {
    await database.run(sql`delete from members where user_id = ${userId}`)
    const answer = await send('POST workspaces', { headers, key: 'the-same', body: { name: `Own ${userId}` } })
    assert.deepEqual([answer.status, replayed(answer)], [201, false])
  }
})

test('a request to leave names the workspace, so that a repeat without a key leaves no other workspace', async () => {
  const guest = await aGuest()
  const leave = (workspaceId: string): Promise<Answer> =>
    send('POST members/leave', { headers: guest.headers, body: { workspace_id: encodeId('workspace', workspaceId) } })
  assert.equal((await leave(guest.first)).status, 200)
  const left = await stateOf(guest)
  const [again, random] = [await leave(guest.first), await leave(world.app.deps.uuid())]
  assert.deepEqual([again.status, again.body], [404, random.body])
  assert.deepEqual(await stateOf(guest), left)
  assert.equal((await leave(guest.second)).status, 200, 'a request may name a workspace where the session is not')
  assert.equal((await send('POST members/leave', { headers: guest.headers, body: {} })).body.reason, 'no_workspace')
})

test('a person has 10,000 such keys in 24 hours; then they are free again, and the records are removed', async () => {
  const guest = await aGuest()
  const of = (key: string) => ({
    headers: guest.headers,
    key,
    body: { workspace_id: encodeId('workspace', guest.second) },
  })
  await send('POST workspaces/switch', of('kept'))
  await database.run(sql`
    insert into personal_idempotency_records (user_id, id, key_hash, fingerprint, claimed_at, status)
    select user_id, gen_random_uuid(), decode(lpad(to_hex(n), 64, '0'), 'hex'), '', claimed_at, 200
      from personal_idempotency_records, generate_series(2, ${LIMITS.adminIdempotencyKeysMax}) n
     where user_id = ${guest.userId}
  `)
  const full = await send('POST workspaces/switch', of('one-more'))
  assert.deepEqual(
    [full.status, full.body.reason, full.headers.get('retry-after')],
    [429, 'idempotency_keys_exhausted', '3600'],
  )
  assert.equal(replayed(await send('POST workspaces/switch', of('kept'))), true)
  const others = await aGuest()
  assert.equal((await send('POST members/leave', { headers: others.headers, key: 'x', body: {} })).status, 200)
  world.clock.advance(LIMITS.adminIdempotencyRetentionMs)
  await runUpkeep(world.app.deps)
  assert.equal((await database.many(sql`select 1 from personal_idempotency_records`)).length, 0)
})
