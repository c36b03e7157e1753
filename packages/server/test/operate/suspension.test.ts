import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { encodeId, routes, type Route } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { EASY, registered } from '../stage/agent-registrations.ts'
import { aGrantedAgent } from '../stage/agents-granted.ts'
import { behind, post, signedIn } from '../stage/fixtures.ts'
import { aSink, aWorld, type Answer, type Sink, type World } from '../stage/harness.ts'
import { Mailbox } from '../stage/mailbox.ts'
import { aKeyOf, aMember, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { sse } from '../stage/stream-client.ts'

/**
 * Suspension by the operator's API, sentence by sentence (contract part 1). The command that does the same is in
 * capture/gates-suspension.extended.test.ts, the order of refusals in surfaces/refusals-order.extended.test.ts, and every write of the contract
 * in surfaces/judges/suspension.ts.
 */
let world: World
let other: World
let database: Database
let sink: Sink
let box: Mailbox
let operator: Headers

before(async () => {
  box = await Mailbox.open()
  const env = { ...EASY, OPERATORS: 'operator@example.com', DATA_DIR: box.folder }
  world = await aWorld({ env, loops: [] })
  other = await aWorld({ beside: world, env: { ...env, ROLES: 'web' } })
  database = behind(world)
  sink = await aSink()
  const main = await theWorkspace(database)
  await database.run(sql`update users set email = 'operator@example.com' where id = ${main.userId}`)
  operator = await signedIn(world, main)
})
after(async () => {
  await database.close()
  await other.stop()
  await world.stop()
  await sink.stop()
  await box.remove()
})

let made = 0

type Home = Member & { readonly id: string; readonly slug: string; readonly headers: Headers }

async function aHome(): Promise<Home> {
  made += 1
  const slug = `held-${made}`
  const owner = await aWorkspace(world, database, slug)
  return { ...owner, slug, id: encodeId('workspace', owner.workspaceId), headers: await signedIn(world, owner) }
}

const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const SUSPENDED = '403 workspace_suspended'
const send = ({ headers }: Pick<Home, 'headers'>, line: string, body?: object): Promise<Answer> =>
  ask(world, line, { headers, ...(body === undefined ? {} : { body }) })
const suspend = async ({ id }: Home, reason = 'unpaid since May'): Promise<Answer> =>
  ask(world, `POST platform/workspaces/${id}/suspend`, { headers: operator, body: { reason } })
const reinstate = async ({ id }: Home): Promise<Answer> =>
  ask(world, `POST platform/workspaces/${id}/reinstate`, { headers: operator })

/** The next email to this address; emails to others, such as invites, are skipped. */
async function mailTo(email: string): Promise<Awaited<ReturnType<Mailbox['next']>>> {
  for (;;) {
    const mail = await box.next(world)
    if (mail.to === email) return mail
  }
}

/** This is true on each node when a second has passed there. */
async function onBoth(look: (node: World) => Promise<boolean>): Promise<void> {
  for (let steps = 0; steps < 4; steps += 1) {
    await world.quiet()
    for (const { clock } of [world, other]) clock.advance(250)
  }
  await world.quiet()
  for (const node of [world, other]) assert.ok(await look(node))
}

/** Lets both nodes read the project and look for changes, so that only an announced change can reach them. */
async function settle(url: string): Promise<void> {
  for (const node of [world, other]) node.clock.advance(20_000)
  await world.quiet()
  for (const node of [world, other])
    assert.equal((await post(url.replace(world.baseUrl, node.baseUrl), '{}')).status, 201)
}

const at = (node: World, url: string): string => url.replace(world.baseUrl, node.baseUrl)

async function anEndpoint(home: Home): Promise<{ readonly url: string; readonly key: string }> {
  const { webhook } = (await send(home, 'POST webhooks', { name: 'in', slug: 'in', dataset: 'd' })).body
  const { key } = (await send(home, 'POST ingest-keys', { name: 'k' })).body
  return { url: webhook.public_url, key }
}

describe('while a workspace is suspended', () => {
  test('endpoint URLs and ingest keys answer 403 workspace_suspended on every node within a second, and nothing is stored or counted', async () => {
    const home = await aHome()
    const { url, key } = await anEndpoint(home)
    const urls = [url, `${url}/d`, ...['ingest', 'webhooks'].map((kind) => `${world.baseUrl}/v1/${kind}/${key}`)]
    await settle(url)
    const answer = await suspend(home)
    assert.deepEqual(
      [answer.body.workspace.state, answer.body.workspace.suspended_reason],
      ['suspended', 'unpaid since May'],
    )
    await onBoth(async (node) => said(await post(at(node, url), '{}')) === SUSPENDED)
    const stored = (await send(home, 'GET submissions')).body.submissions.length
    for (const node of [world, other]) {
      for (const one of [
        urls[0],
        urls[1],
        `${world.baseUrl}/v1/ingest/${key}`,
        `${world.baseUrl}/v1/ingest/${key}/d`,
        `${world.baseUrl}/v1/webhooks/${key}/in`,
      ])
        assert.equal(said(await post(at(node, one ?? ''), 'not json')), SUSPENDED, one)
    }
    assert.equal((await send(home, 'GET submissions')).body.submissions.length, stored)
    await reinstate(home)
    await onBoth(async (node) => said(await post(at(node, url), '{}')) === '201')
  })

  test('senders do not read the reason', async () => {
    const home = await aHome()
    const { url } = await anEndpoint(home)
    await suspend(home, 'a private matter')
    await onBoth(async (node) => said(await post(at(node, url), '{}')) === SUSPENDED)
    assert.doesNotMatch((await post(url, '{}')).body.error, /private/)
  })

  test('open /v1/stream connections are closed, and none is opened', async () => {
    const home = await aHome()
    const { key } = await anEndpoint(home)
    const client = await sse(`${world.baseUrl}/v1/stream?key=${key}`)
    assert.equal(client.status, 200)
    await suspend(home)
    await onBoth(async (node) => (await fetch(`${node.baseUrl}/v1/stream?key=${key}`)).status === 403)
    await client.until(1)
    assert.deepEqual(
      client.events.map(({ type, data }) => [type, data]),
      [['closing', { reason: 'workspace_suspended' }]],
    )
  })

  test('every write of the admin API is refused except those that the contract names, and those about other workspaces', () => {
    const allowed = Object.entries(routes).flatMap(([room, verbs]) =>
      Object.entries<Route>(verbs).flatMap(([verb, { whileSuspended: flag, operator: isOperators }]) =>
        flag === 'allowed' && isOperators !== true ? [`${room}.${verb}`] : [],
      ),
    )
    assert.deepEqual(allowed.toSorted(), [
      'agentAccounts.claim',
      'apiKeys.remove',
      'billing.checkout',
      'billing.openPortal',
      'connectedAgents.remove',
      'connectedAgents.update',
      'invites.accept',
      'invites.remove',
      'members.leave',
      'members.remove',
      'ssoRequests.cancel',
      'workspaces.create',
      'workspaces.switch',
    ])
  })

  test('members read the stored data', async () => {
    const home = await aHome()
    await suspend(home)
    for (const path of [
      'me',
      'workspace',
      'webhooks',
      'deliveries',
      'audit',
      'members',
      'settings/network',
      'broadcasts',
    ])
      assert.equal(said(await send(home, `GET ${path}`)), '200', path)
  })

  const EXCEPTIONS: Readonly<Record<string, (home: Home) => Promise<() => Promise<Answer>>>> = {
    'platform administration': async (home) => async () => {
      await database.run(sql`update users set email = null where email = 'operator@example.com'`)
      await database.run(sql`update users set email = 'operator@example.com' where id = ${home.userId}`)
      try {
        return await send(home, 'PATCH platform/settings', { support_contact: null })
      } finally {
        await database.run(sql`update users set email = null where id = ${home.userId}`)
        const { userId } = await theWorkspace(database)
        await database.run(sql`update users set email = 'operator@example.com' where id = ${userId}`)
      }
    },
    'narrowing a connected agent': async (home) => {
      const { id } = await aGrantedAgent(world, database, { ...home, scope: 'service:manage' })
      return () => send(home, `PATCH agents/${id}`, { scope: 'service:read' })
    },
    'revoking a connected agent': async (home) => {
      const { id } = await aGrantedAgent(world, database, { ...home, scope: 'service:manage' })
      return () => send(home, `DELETE agents/${id}`)
    },
    'revoking an API key': async (home) => {
      const { id } = await aKeyOf(world, database, home)
      return () => send(home, `DELETE api-keys/${id}`)
    },
    'revoking an invite': async (home) => {
      const { invite } = (await send(home, 'POST invites', { email: `i${made}@example.com`, role: 'viewer' })).body
      return () => send(home, `DELETE invites/${invite.id}`)
    },
    'removing a member': async (home) => {
      const { userId } = await aMember(world, database, { ...home, role: 'viewer' })
      return () => send(home, `DELETE members/${encodeId('user', userId)}`)
    },
    leaving: async (home) => {
      const headers = await signedIn(world, await aMember(world, database, { ...home, role: 'viewer' }))
      return () => send({ headers }, 'POST members/leave', {})
    },
    'accepting an invite to another workspace': async (home) => {
      const [host, email, token] = [await aHome(), `guest-${made}@example.com`, `token-${made}-${'x'.repeat(36)}`]
      await database.run(sql`update users set email = ${email} where id = ${home.userId}`)
      await send(host, 'POST invites', { email, role: 'viewer' })
      await database.run(sql`update invites set token_hash = ${hashCredential(token)} where email = ${email}`)
      return () => send(home, 'POST invites/accept', { token })
    },
    'switching workspaces': async (home) => {
      const spare = await aHome()
      await database.run(
        sql`insert into members (workspace_id, user_id, role, created_at) values (${spare.workspaceId}, ${home.userId}, 'viewer', now())`,
      )
      return () => send(home, 'POST workspaces/switch', { workspace_id: spare.id })
    },
    'creating another workspace': async (home) => () => send(home, 'POST workspaces', { name: 'Another' }),
    'claiming the workspace of an agent': async (home) => {
      const { claim } = await registered(world)
      return () => send(home, 'POST agent-accounts/claim', { claim_token: claim.token })
    },
    'an export of the data by the owner': async (home) => () => send(home, 'POST data-export'),
    'the plan of a replay': async (home) => () => send(home, 'POST deliveries/replays', { filter: {}, dry_run: true }),
    'a POST-bodied dry run': async (home) => () =>
      send(home, 'POST rules/test', { conditions: [], payloads: [{ a: 1 }] }),
    'canceling a pending SSO request': async (home) => {
      const { request } = (await send(home, 'POST sso/requests', { domains: ['example.com'] })).body
      return () => send(home, `DELETE sso/requests/${request.id}`)
    },
  }

  for (const [name, prepare] of Object.entries(EXCEPTIONS)) {
    test(`${name} is allowed`, async () => {
      const home = await aHome()
      const go = await prepare(home)
      await suspend(home)
      assert.equal(said(await send(home, 'POST rules', { name: 'x', dataset: 'x' })), SUSPENDED)
      const answer = await go()
      assert.ok(answer.status < 300, JSON.stringify(answer.body))
    })
  }

  test('an export by anyone but an owner is refused, and so is a replay that is not a dry run', async () => {
    const home = await aHome()
    const { headers } = await aKeyOf(world, database, { ...home, role: 'admin' })
    await suspend(home)
    assert.equal(said(await send({ headers }, 'POST data-export')), SUSPENDED)
    for (const body of [{ filter: {} }, { filter: {}, dry_run: false }, { filter: {}, dry_run: 'true' }])
      assert.equal(said(await send(home, 'POST deliveries/replays', body)), SUSPENDED)
  })

  test('creating an API key is refused', async () => {
    const home = await aHome()
    await suspend(home)
    assert.equal(said(await send(home, 'POST api-keys', { name: 'x', role: 'viewer' })), SUSPENDED)
  })
})

describe('pending deliveries', () => {
  test('deliveries are paused, and sent after the reinstatement: nothing is lost, and no attempt is spent', async () => {
    const home = await aHome()
    const { url } = await anEndpoint(home)
    await send(home, 'POST destinations', { name: 'out', url: `${sink.url}${home.slug}` })
    sink.answer({ status: 500 })
    for (let sent = 0; sent < 5; sent += 1) assert.equal((await post(url, `{"n":${sent}}`)).status, 201)
    const deliveries = async (): Promise<readonly Answer['body'][]> =>
      (await send(home, 'GET deliveries')).body.deliveries
    await world.quiet()
    assert.ok((await deliveries()).every(({ state }) => state === 'retrying'))
    await suspend(home)
    await onBoth(async () => (await deliveries()).every(({ state }) => state === 'paused'))
    const paused = await deliveries()
    assert.deepEqual(
      paused.map(({ pause_reason, next_attempt_at, attempt_count }) => [pause_reason, next_attempt_at, attempt_count]),
      paused.map(() => ['workspace_suspended', null, 1]),
    )
    const had = sink.received.length
    sink.answer({ status: 200 })
    world.clock.advance(3_600_000)
    await world.idle()
    assert.equal(sink.received.length, had)
    operator = await signedIn(world, await theWorkspace(database))
    assert.equal((await reinstate(home)).body.workspace.state, 'active')
    const headers = await signedIn(world, home)
    await world.idle()
    const ended = (await send({ headers }, 'GET deliveries')).body.deliveries
    assert.deepEqual(
      ended.map((one: { state: string; attempt_count: number }) => [one.state, one.attempt_count]),
      Array.from({ length: 5 }, () => ['delivered', 2]),
    )
  })
})

describe('the reason', () => {
  test('members read the reason in me, in the workspace and in every refusal, with the contact; it ends with the suspension', async () => {
    const home = await aHome()
    await ask(world, 'PATCH platform/settings', { headers: operator, body: { support_contact: 'help@example.com' } })
    await suspend(home, 'Too much spam\nfrom one endpoint')
    const me = (await send(home, 'GET me')).body.workspace
    assert.deepEqual(
      [me.suspended, me.suspended_reason, me.support_contact],
      [true, 'Too much spam\nfrom one endpoint', 'help@example.com'],
    )
    assert.equal((await send(home, 'GET workspace')).body.workspace.suspended_reason, me.suspended_reason)
    const { error } = (await send(home, 'POST rules', { name: 'x', dataset: 'x' })).body
    assert.equal(
      error,
      'The operator suspended this workspace, so it refuses changes. Reason: Too much spam from one endpoint. Contact: help@example.com.',
    )
    await reinstate(home)
    const later = (await send(home, 'GET me')).body.workspace
    assert.deepEqual([later.suspended, later.suspended_reason, later.support_contact], [false, null, null])
    await ask(world, 'PATCH platform/settings', { headers: operator, body: { support_contact: null } })
  })

  test('the server emails the reason and the reinstatement to the owner, once each', async () => {
    const home = await aHome()
    const email = `owner-${made}@example.com`
    await database.run(sql`update users set email = ${email} where id = ${home.userId}`)
    await suspend(home, 'unpaid since May')
    await suspend(home, 'a second reason')
    const mail = await mailTo(email)
    assert.deepEqual([mail.to, mail.subject], [email, `The workspace ${home.slug} is suspended`])
    assert.match(mail.text, /Reason: unpaid since May/)
    await reinstate(home)
    await reinstate(home)
    assert.equal((await mailTo(email)).subject, `The workspace ${home.slug} is active again`)
    world.clock.advance(10_000)
    await world.run('mail.send')
    assert.deepEqual(await box.unread(), [])
    operator = await signedIn(world, await theWorkspace(database))
    assert.equal(
      (await ask(world, `GET platform/workspaces/${home.id}`, { headers: operator })).body.workspace.state,
      'active',
    )
  })

  test('a reason is required, and has at most 500 characters', async () => {
    const home = await aHome()
    for (const reason of ['', ' ', 'x'.repeat(501)])
      assert.equal(said(await suspend(home, reason)), '400 invalid_request')
    assert.equal((await send(home, 'GET me')).body.workspace.suspended, false)
  })
})
