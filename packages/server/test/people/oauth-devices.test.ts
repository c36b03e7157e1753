import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aBrowserOf, aClient, claimsIn, forgetRates, refresh, sendForm } from '../stage/oauth-stage.ts'
import { ask, theWorkspace, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database
let owner: Member
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    owner = await theWorkspace(database)
  },
  { loops: [] },
)

const CLI = 'postroad-cli'

const begin = (members: Record<string, string> = {}): Promise<Answer> =>
  sendForm(world, 'device_authorization', { client_id: CLI, scope: 'service:write', device_name: 'laptop', ...members })

const poll = (device: string): Promise<Answer> =>
  sendForm(world, 'token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: CLI,
    device_code: device,
  })

const allow = () => ({
  decision: 'allow',
  scope: 'service:write',
  workspace_id: encodeId('workspace', owner.workspaceId),
})

test('a device gets its tokens once a person has confirmed its code', async () => {
  const { status, body } = await begin()
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(body.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  assert.equal(body.verification_uri, `${world.baseUrl}/oauth/device`)
  assert.equal(body.verification_uri_complete, `${world.baseUrl}/oauth/device?user_code=${body.user_code}`)
  assert.deepEqual((await poll(body.device_code)).body.error, 'authorization_pending')

  const browser = await aBrowserOf(world, owner)
  const typed = ` ${body.user_code.toLowerCase().replace('-', ' ')}`
  const shown = await browser.call('POST /api/oauth/device/request', { user_code: typed })
  assert.equal(shown.status, 200, shown.text)
  assert.deepEqual(shown.body.client, { name: 'Postroad command line', host: null })
  assert.equal(shown.body.device.name, 'laptop')
  assert.equal(shown.body.device.ip, '127.0.0.1')
  assert.equal(shown.body.asked_scope, 'service:write')
  const decided = await browser.call('POST /api/oauth/device/decision', { user_code: typed, ...allow() })
  assert.equal(decided.status, 200, decided.text)

  const tokens = await poll(body.device_code)
  assert.equal(tokens.status, 200, JSON.stringify(tokens.body))
  assert.equal(tokens.body.scope, 'service:read service:write')
  assert.equal(claimsIn(tokens.body.access_token)['aud'], `${world.baseUrl}/mcp`)
  const headers = { authorization: `Bearer ${tokens.body.access_token}` }
  assert.equal((await ask(world, 'GET me', { headers })).status, 200)
  const { agents } = (await browser.call('GET agents')).body
  assert.deepEqual([agents[0].name, agents[0].redirect_host], ['Postroad command line on laptop', null])
  assert.equal((await refresh(world, { client: CLI, token: tokens.body.refresh_token })).status, 200)
  assert.equal((await poll(body.device_code)).body.error, 'invalid_grant', 'the code works once')
})

test('each device has a separate connection', async () => {
  const browser = await aBrowserOf(world, owner)
  const count = async () =>
    (await browser.call('GET agents')).body.agents.filter((one: { client_id: string }) => one.client_id === CLI).length
  const had = await count()
  for (const name of ['one', 'two']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { body } = await begin({ device_name: name })
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await browser.call('POST /api/oauth/device/decision', { user_code: body.user_code, ...allow() })
  }
  assert.equal(await count(), had + 2)
})

test('the name of a device is one short line, whatever the device sends', async () => {
  const browser = await aBrowserOf(world, owner)
  const names = { [`lap\0top\n\u202e${'x'.repeat(5_000)}`]: `lap top ${'x'.repeat(72)}`, ' \0 ': null }
  for (const [sent, wanted] of Object.entries(names)) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { body } = await begin({ device_name: sent })
    const { user_code: code } = body
    // oxlint-disable-next-line no-await-in-loop -- as above
    const shown = await browser.call('POST /api/oauth/device/request', { user_code: code })
    assert.equal(shown.body.device.name, wanted)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const decided = await browser.call('POST /api/oauth/device/decision', { user_code: code, ...allow() })
    assert.equal(decided.status, 200, decided.text)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { agents } = (await browser.call('GET agents')).body
    assert.equal(agents[0].name, `Postroad command line${wanted === null ? '' : ` on ${wanted}`}`)
  }
})

test('a refusal, an old code, a used code and a wrong code lead nowhere', async () => {
  const browser = await aBrowserOf(world, owner)
  const refused = (await begin()).body
  await browser.call('POST /api/oauth/device/decision', { user_code: refused.user_code, decision: 'deny' })
  assert.equal((await poll(refused.device_code)).body.error, 'access_denied')
  const again = await browser.call('POST /api/oauth/device/decision', { user_code: refused.user_code, ...allow() })
  assert.deepEqual([again.status, again.body.reason], [404, 'user_code_unknown'])

  const old = (await begin()).body
  world.clock.advance(900_000)
  const late = await browser.call('POST /api/oauth/device/decision', { user_code: old.user_code, ...allow() })
  assert.equal(late.body.reason, 'user_code_unknown')
  assert.equal((await poll(old.device_code)).body.error, 'expired_token')
  const wrong = await browser.call('POST /api/oauth/device/request', { user_code: 'BBBB-BBBB' })
  assert.equal(wrong.body.reason, 'user_code_unknown')
})

test('guesses of codes are limited', async () => {
  await forgetRates(world)
  const browser = await aBrowserOf(world, owner)
  const answers: Answer[] = []
  for (let index = 0; index < 11; index += 1)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    answers.push(await browser.call('POST /api/oauth/device/request', { user_code: 'CCCC-CCCC' }))
  assert.deepEqual(
    answers.map(({ body }) => body.reason),
    [...Array.from({ length: 10 }, () => 'user_code_unknown'), 'too_many_attempts'],
  )
  world.clock.advance(600_000)
})

test('only programs of this server can request a code, and only a person can confirm one', async () => {
  const client = await aClient(world)
  const other = await sendForm(world, 'device_authorization', { client_id: client })
  assert.equal(other.status, 400)
  const { body } = await begin()
  const browser = await aBrowserOf(world, owner)
  const foreign = await fetch(`${world.baseUrl}/api/oauth/device/decision`, {
    method: 'POST',
    headers: { cookie: browser.header(), 'content-type': 'text/plain' },
    body: JSON.stringify({ user_code: body.user_code, ...allow() }),
  })
  assert.equal(foreign.status, 403)
  const key = await browser.call(
    'POST /api/oauth/device/decision',
    { user_code: body.user_code, ...allow() },
    { authorization: `Bearer ${world.installed.api_key}` },
  )
  assert.equal(key.body.reason, 'agent_not_permitted')
  assert.equal((await poll(body.device_code)).body.error, 'authorization_pending')
  const page = await fetch(`${world.baseUrl}/oauth/device?user_code=${body.user_code}`, { redirect: 'manual' })
  assert.equal(
    page.headers.get('location'),
    `/sign-in?next=${encodeURIComponent(`/oauth/device?user_code=${body.user_code}`)}`,
  )
})
