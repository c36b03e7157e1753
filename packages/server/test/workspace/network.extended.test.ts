import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeId, LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { runCommand } from '../stage/command.ts'
import { post, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The addresses from which a workspace may be used (docs/adr/0131). The tests set the address as a trusted proxy. */
let world: World
let other: World
let database: Database
let operator: Headers

const env = { ROLES: 'web', TRUST_PROXY: '127.0.0.1,::1', OPERATORS: 'operator@example.com' }
const OFFICE = '203.0.113.9'
const ELSEWHERE = '198.51.100.7'

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    other = await aWorld({ beside: world, env, now: Date.now() })
    made.atEnd(() => other.stop())
    const main = await theWorkspace(database)
    await database.run(sql`update users set email = 'operator@example.com' where id = ${main.userId}`)
    operator = from(ELSEWHERE, await signedIn(world, main))
  },
  { env, now: Date.now(), loops: [] },
)

let made = 0

type Home = Member & { readonly slug: string; readonly headers: Headers }

const from = (address: string, headers: Headers): Headers => ({ ...headers, 'x-forwarded-for': address })
const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)

async function aHome(): Promise<Home> {
  made += 1
  const owner = await aWorkspace(world, database, `network-${made}`)
  return { ...owner, slug: `network-${made}`, headers: await signedIn(world, owner) }
}

const save = ({ headers }: Pick<Home, 'headers'>, list: readonly string[], address = OFFICE): Promise<Answer> =>
  ask(world, 'PUT settings/network', { headers: from(address, headers), body: { ip_allowlist: list } })

async function aRestricted(list: readonly string[] = ['203.0.113.0/24']): Promise<Home> {
  const home = await aHome()
  assert.equal(said(await save(home, list)), '200')
  return home
}

const denied = ({
  workspaceId,
}: Member): Promise<readonly { actor: string; agent: string | null; ip: string | null }[]> =>
  database.many(
    sql`select actor, agent, ip from audit_rows where workspace_id = ${workspaceId} and action = 'access_denied' order by id`,
  )

describe('a list of addresses', () => {
  test('admits the console and API keys only from its addresses, immediately and on every node', async () => {
    const home = await aHome()
    const key = (await aKeyOf(world, database, home)).headers
    for (const node of [world, other])
      assert.equal(said(await ask(node, 'GET me', { headers: from(ELSEWHERE, home.headers) })), '200')
    await save(home, ['203.0.113.0/24', '2001:db8::/32'])
    for (const node of [world, other]) {
      for (const headers of [home.headers, key]) {
        for (const address of [OFFICE, '2001:db8::1', `::ffff:${OFFICE}`])
          assert.equal(said(await ask(node, 'GET me', { headers: from(address, headers) })), '200', address)
        const answer = await ask(node, 'GET me', { headers: from(ELSEWHERE, headers) })
        assert.equal(said(answer), '403 ip_not_allowed')
        assert.match(answer.body.error, new RegExp(ELSEWHERE.replaceAll('.', '\\.')))
      }
    }
    await save(home, [])
    for (const node of [world, other])
      assert.equal(said(await ask(node, 'GET me', { headers: from(ELSEWHERE, home.headers) })), '200')
  })

  test('refuses a request whose address is invalid', async () => {
    const home = await aRestricted()
    const answer = await ask(world, 'GET me', { headers: from('unknown', home.headers) })
    assert.equal(said(answer), '403 ip_not_allowed')
  })

  test('ends open streams of the admin API that come from elsewhere, and lets no new one start', async () => {
    const home = await aHome()
    const key = (await aKeyOf(world, database, home)).headers
    const open = (): Promise<Response> =>
      fetch(`${world.baseUrl}/admin/api/stream`, { headers: { ...from(ELSEWHERE, key) } })
    const running = await open()
    assert.equal(running.status, 200)
    await save(home, ['203.0.113.0/24'])
    assert.equal((await open()).status, 403)
    const ended = running.text().then(() => true)
    for (let seconds = 0; seconds < 6; seconds += 1) {
      await world.quiet()
      world.clock.advance(1_000)
    }
    await ended
  })

  test('the list does not apply to senders: ingest accepts events from every address', async () => {
    const home = await aRestricted()
    const { webhook } = (
      await ask(world, 'POST webhooks', { headers: from(OFFICE, home.headers), body: { name: 'in' } })
    ).body
    const answer = await post(webhook.public_url, '{}', { headers: { 'x-forwarded-for': ELSEWHERE } })
    assert.equal(answer.status, 201)
  })

  test('does not stop a person from going to another of their workspaces', async () => {
    const [home, spare] = [await aRestricted(), await aHome()]
    await database.run(
      sql`insert into members (workspace_id, user_id, role, created_at) values (${spare.workspaceId}, ${home.userId}, 'viewer', now())`,
    )
    const headers = from(ELSEWHERE, home.headers)
    assert.equal((await ask(world, 'GET workspaces', { headers })).body.workspaces.length, 2)
    const body = { workspace_id: encodeId('workspace', spare.workspaceId) }
    assert.equal(said(await ask(world, 'POST workspaces/switch', { headers, body })), '200')
    assert.equal((await ask(world, 'GET me', { headers })).body.workspace.slug, spare.slug)
  })
})

describe('saving a list', () => {
  test('a list without the address of its author is refused with that address, and changes nothing', async () => {
    const home = await aRestricted()
    for (const list of [[ELSEWHERE], ['198.51.100.0/24', '2001:db8::/32'], ['203.0.113.10']]) {
      const answer = await save(home, list)
      assert.equal(said(answer), '400 own_address_missing')
      assert.match(answer.body.error, /203\.0\.113\.9/)
    }
    const { network } = (await ask(world, 'GET settings/network', { headers: from(OFFICE, home.headers) })).body
    assert.deepEqual(
      [network.ip_allowlist, network.your_address, network.updated_by],
      [['203.0.113.0/24'], OFFICE, encodeId('user', home.userId)],
    )
  })

  test('a list is refused when the address of the request is unknown', async () => {
    const answer = await save(await aHome(), ['203.0.113.0/24'], 'unknown')
    assert.equal(said(answer), '400 own_address_missing')
    assert.match(answer.body.error, /unknown.*TRUST_PROXY/)
  })

  test('an admin may save a list and a developer may not, and the audit log stores the change', async () => {
    const home = await aHome()
    const developer = await signedIn(world, await aMember(world, database, { ...home, role: 'developer' }))
    assert.equal(said(await save({ headers: developer }, [])), '403 insufficient_role')
    assert.equal(said(await ask(world, 'GET settings/network', { headers: developer })), '403 insufficient_role')
    const admin = await signedIn(world, await aMember(world, database, { ...home, role: 'admin' }))
    assert.equal(said(await save({ headers: admin }, [OFFICE])), '200')
    const [row] = await database.many<{ details: string }>(
      sql`select details from audit_rows where workspace_id = ${home.workspaceId} and action = 'update_network_access'`,
    )
    assert.deepEqual(JSON.parse(row?.details ?? '').ip_allowlist, [OFFICE])
  })

  test('a list with an invalid address or range, or with too many entries, is refused', async () => {
    const home = await aHome()
    for (const list of [
      ['203.0.113.0/33'],
      ['example.com'],
      [''],
      Array.from({ length: LIMITS.ipAllowlistEntriesMax + 1 }, (_, index) => `203.0.113.${index}`),
    ])
      assert.equal(said(await save(home, list)), '400 invalid_request')
  })
})

describe('a rejected request', () => {
  test('the server audits a rejected request as access_denied, once a minute for each credential and address', async () => {
    const home = await aRestricted()
    const key = await aKeyOf(world, database, home)
    // Both nodes are at the start of the same minute.
    const minute = Math.ceil(Math.max(world.clock.now(), other.clock.now()) / 60_000) * 60_000
    for (const { clock } of [world, other]) clock.set(minute)
    for (let sent = 0; sent < 5; sent += 1) {
      for (const node of [world, other]) {
        await ask(node, 'GET me', { headers: from(ELSEWHERE, home.headers) })
        await ask(node, 'GET me', { headers: from(ELSEWHERE, key.headers) })
      }
    }
    await ask(world, 'GET me', { headers: from('198.51.100.8', home.headers) })
    const actor = encodeId('user', home.userId)
    assert.deepEqual(
      [...(await denied(home))],
      [
        { actor, agent: null, ip: ELSEWHERE },
        { actor, agent: `api_key:${key.id}`, ip: ELSEWHERE },
        { actor, agent: null, ip: '198.51.100.8' },
      ],
    )
    world.clock.advance(60_000)
    await ask(world, 'GET me', { headers: from(ELSEWHERE, home.headers) })
    assert.equal((await denied(home)).length, 4)
  })

  test('a key outside its own list is refused for that list first', async () => {
    const home = await aRestricted()
    const { headers } = await aKeyOf(world, database, { ...home, ips: ['192.0.2.1'] })
    const answer = await ask(world, 'GET me', { headers: from(ELSEWHERE, headers) })
    assert.match(answer.body.error, /^This API key cannot be used/)
  })
})

describe('a workspace that has locked itself out', () => {
  test('an operator opens the workspace to every address, and its audit log records this', async () => {
    const home = await aRestricted(['203.0.113.9'])
    const id = encodeId('workspace', home.workspaceId)
    const elsewhere = from(ELSEWHERE, home.headers)
    assert.equal(said(await ask(world, 'GET me', { headers: elsewhere })), '403 ip_not_allowed')
    assert.equal(
      (await ask(world, `GET platform/workspaces/${id}`, { headers: operator })).body.workspace.network_restricted,
      true,
    )
    const cleared = await ask(world, `POST platform/workspaces/${id}/clear-network`, { headers: operator })
    assert.deepEqual([said(cleared), cleared.body.workspace.network_restricted], ['200', false])
    assert.equal(said(await ask(other, 'GET me', { headers: elsewhere })), '200')
    const { audit } = (await ask(world, 'GET audit?action=clear_network_access', { headers: elsewhere })).body
    assert.deepEqual(
      audit.map((row: { agent: string; target: string }) => [row.agent, row.target]),
      [['operator', id]],
    )
  })

  test('an operator opens their own workspace', async () => {
    const main = await theWorkspace(database)
    const headers = await signedIn(world, main)
    assert.equal(said(await save({ headers }, [OFFICE])), '200')
    assert.equal(said(await ask(world, 'GET me', { headers: from(ELSEWHERE, headers) })), '403 ip_not_allowed')
    const path = `POST platform/workspaces/${encodeId('workspace', main.workspaceId)}/clear-network`
    assert.equal(said(await ask(world, path, { headers: from(ELSEWHERE, headers) })), '200')
    assert.equal(said(await ask(world, 'GET me', { headers: from(ELSEWHERE, headers) })), '200')
  })

  test('the command on the machine of the server opens the workspace', async () => {
    const home = await aRestricted(['203.0.113.9'])
    const { code, stdout } = await runCommand(world, ['clear-network', home.slug])
    assert.deepEqual([code, stdout], [0, `${home.slug}  open to every address\n`])
    assert.equal(said(await ask(world, 'GET me', { headers: from(ELSEWHERE, home.headers) })), '200')
    const unknown = await runCommand(world, ['clear-network', 'nobody'])
    assert.deepEqual([unknown.code, unknown.stdout], [4, ''])
    assert.match(unknown.stderr, /There is no workspace "nobody"/)
  })
})
