import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LIMITS, signInRoutes, type SignInRoute } from '@postroad/contract'
import { type Database } from '../../src/platform/db.ts'
import { signInLink } from '../../src/resources/operate/installation/index.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { linkIn, Mailbox } from '../stage/mailbox.ts'
import { anOwner, aPerson, PASSWORD, signedIn } from '../stage/accounts.ts'

let world: World
let database: Database
let box: Mailbox

before(async () => {
  box = await Mailbox.open()
  world = await aWorld({ env: { DATA_DIR: box.folder }, loops: [] })
  database = behind(world)
})
after(async () => {
  await database.close()
  await world.stop()
  await box.remove()
})

const browser = (): Browser => new Browser(world.baseUrl)
const urlOf = (route: SignInRoute) => route.path.replaceAll(/\{\w+\}/g, 'x')
const sign = (url: string) => browser().call('POST session', { token: new URL(url).hash.slice(3) })
const OTHER_PASSWORD = 'copper meadow whistle nine'
const MINUTE_MS = 60_000

test('an owner signs in by the printed link, confirms an address, sets a password, and signs in by it from then on', async () => {
  const owner = await anOwner(world)
  assert.equal((await owner.call('POST account/email', { email: 'Owner@Example.com' })).status, 200)
  const mailed = await box.next(world)
  assert.match(mailed.to, /Owner@example\.com/i)
  assert.equal((await owner.call('GET account')).body.user.email, null, 'an unproven address belongs to nobody')
  assert.equal((await owner.call('PUT account/email', { token: linkIn(mailed).token })).body.email, 'Owner@Example.com')
  assert.equal((await owner.call('PUT account/password', { new_password: PASSWORD })).status, 200)
  assert.match((await box.next(world)).text, /password of your Postroad account was changed/)
  const later = browser()
  const answer = await later.call('POST session', { email: 'owner@example.com', password: PASSWORD })
  assert.deepEqual(answer.body, { ok: true, next: '/' })
  assert.equal((await later.call('GET me')).body.role, 'owner')
})

test('a first password and a new passkey need a sign-in within the last 15 minutes; the current password allows its change at any time', async () => {
  const person = await aPerson(world, database)
  const own = await signedIn(world, box, person)
  world.clock.advance(LIMITS.recentSignInMs + 1)
  const refused = [
    await own.call('PUT account/password', { new_password: PASSWORD }),
    await own.call('POST account/passkeys/options', {}),
  ]
  for (const { status, body } of refused) assert.deepEqual([status, body.reason], [403, 'recent_sign_in_required'])
  const again = await signedIn(world, box, person)
  assert.equal((await again.call('PUT account/password', { new_password: PASSWORD })).status, 200)
  world.clock.advance(LIMITS.recentSignInMs + 1)
  const changed = { current_password: PASSWORD, new_password: OTHER_PASSWORD }
  assert.equal((await again.call('PUT account/password', changed)).status, 200)
})

test('a new sign-in link of the server ends the previous one, and works once and within an hour', async () => {
  const first = await signInLink(world.app.deps)
  const second = await signInLink(world.app.deps)
  assert.deepEqual(
    [(await sign(first)).status, (await sign(second)).status, (await sign(second)).status],
    [401, 200, 401],
  )
  const late = await signInLink(world.app.deps)
  world.clock.advance(60 * MINUTE_MS)
  assert.equal((await sign(late)).status, 401)
})

describe('every route of sign-in', () => {
  const ALL = Object.entries<SignInRoute>(signInRoutes)

  test('each route refuses a change without X-Requested-With, whatever method an override header names', async () => {
    const owner = await anOwner(world)
    for (const [name, route] of ALL) {
      if (route.method === 'GET') continue
      const response = await fetch(`${world.baseUrl}/admin/api/${urlOf(route)}`, {
        method: route.method,
        headers: { cookie: owner.header(), 'x-http-method-override': 'GET', 'x-method-override': 'GET' },
      })
      assert.deepEqual(
        [response.status, ((await response.json()) as { reason: string }).reason],
        [403, 'csrf_header_missing'],
        name,
      )
    }
    assert.equal(
      (await owner.call('GET account/sessions', undefined, { 'x-http-method-override': 'DELETE' })).status,
      200,
    )
    assert.equal((await owner.call('GET account')).status, 200, 'no session ended by it')
  })

  test('a route for signed-in people answers 401 without a session and to an API key', async () => {
    for (const [name, route] of ALL) {
      if (route.caller !== 'session') continue
      for (const headers of [{}, { authorization: `Bearer ${world.installed.api_key}` }]) {
        const answer = await browser().call(
          `${route.method} ${urlOf(route)}`,
          route.method === 'GET' ? undefined : {},
          headers,
        )
        assert.deepEqual([answer.status, answer.body.reason], [401, 'unauthorized'], name)
      }
    }
  })

  test('each route is described in /openapi.json, answers no page of another origin, and is never cached', async () => {
    const { paths } = (await (await fetch(`${world.baseUrl}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { description?: string }>>
    }
    for (const [name, route] of ALL) {
      assert.ok((paths[`/admin/api/${route.path}`]?.[route.method.toLowerCase()]?.description ?? '') !== '', name)
      const answer = await browser().call(`${route.method} ${urlOf(route)}`, undefined, {
        origin: 'https://evil.example',
      })
      assert.deepEqual(
        [answer.headers.get('access-control-allow-origin'), answer.headers.get('cache-control')],
        [null, 'no-store'],
        name,
      )
    }
  })
})
