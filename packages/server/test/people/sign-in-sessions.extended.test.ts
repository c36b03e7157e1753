import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { createCipher } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { createSealedText } from '../../src/platform/sealed-text.ts'
import { anOwner, aPerson, aPersonWithPassword, PASSWORD, type Person } from '../stage/accounts.ts'
import { Browser } from '../stage/browser.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { aWorkspace } from '../stage/people.ts'
import { sse } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

const COOKIE = 'service_session'

async function signIn(person: Person, browser = new Browser(world.baseUrl)): Promise<Browser> {
  const answer = await browser.call('POST session', { email: person.email, password: PASSWORD })
  assert.equal(answer.status, 200, answer.text)
  return browser
}

const works = async (browser: Browser): Promise<boolean> => (await browser.call('GET me')).status === 200

const withCookie = (value: string) =>
  new Browser(world.baseUrl).call('GET me', undefined, { cookie: `${COOKIE}=${value}` })

describe('the cookie', () => {
  test('the cookie is HttpOnly and SameSite=Lax for the whole server, and Secure when PUBLIC_URL is https', async () => {
    const { email } = await aPersonWithPassword(world, database)
    const attributes = async (at: World): Promise<string> => {
      const answer = await new Browser(at.address).call('POST session', { email, password: PASSWORD })
      return answer.headers.getSetCookie()[0]?.replace(/=[^;]+/, '=…') ?? ''
    }
    assert.equal(await attributes(world), `${COOKIE}=…; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800`)
    const secure = await aWorld({ beside: world, env: { PUBLIC_URL: 'https://hooks.example.com' } })
    try {
      assert.equal(await attributes(secure), `${COOKIE}=…; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure`)
    } finally {
      await secure.stop()
    }
  })

  test('a cookie that was changed in any way opens no session', async () => {
    const browser = await signIn(await aPersonWithPassword(world, database))
    const cookie = browser.cookies.get(COOKIE) ?? ''
    assert.equal((await withCookie(cookie)).status, 200)
    const parts = cookie.split('.')
    const header = (fields: object) =>
      [Buffer.from(JSON.stringify(fields)).toString('base64url'), ...parts.slice(1)].join('.')
    const { kid } = JSON.parse(Buffer.from(parts[0] ?? '', 'base64url').toString()) as { kid: string }
    const flips = Array.from({ length: 24 }, (_, n) => {
      const at = Math.floor((n * cookie.length) / 24)
      return cookie.slice(0, at) + (cookie[at] === 'A' ? 'B' : 'A') + cookie.slice(at + 1)
    })
    const changed = [
      ...flips,
      '',
      '.',
      '....',
      'null',
      '%00',
      'e30',
      cookie.slice(1),
      cookie.slice(0, -1),
      cookie.slice(0, cookie.length / 2),
      `${cookie}A`,
      `${cookie}.${cookie}`,
      cookie.toUpperCase(),
      parts.toReversed().join('.'),
      'x'.repeat(20_000),
      header({ alg: 'none', kid }),
      header({ alg: 'dir', enc: 'A128GCM', kid }),
      header({ alg: 'RSA-OAEP', enc: 'A256GCM', kid }),
      header({ alg: 'dir', enc: 'A256GCM' }),
      header({ alg: 'dir', enc: 'A256GCM', kid: '../../secret-key' }),
      header({ alg: 'dir', enc: 'A256GCM', kid, zip: 'DEF' }),
      header({ alg: 'dir', enc: 'A256GCM', kid, crit: ['x'], x: 1 }),
    ].filter((value) => value !== cookie)
    for (const value of changed) {
      const answer = await withCookie(value)
      assert.deepEqual([answer.status, answer.body.reason], [401, 'unauthorized'], value.slice(0, 80))
    }
  })

  test('a cookie sealed by another key or for another purpose opens no session, and neither does the bare secret', async () => {
    const browser = await signIn(await aPersonWithPassword(world, database))
    const opened = await world.app.deps.cookies.open(browser.cookies.get(COOKIE) ?? '')
    const secret = opened?.slice('session:'.length) ?? assert.fail('the cookie opens')
    const foreign = createSealedText(createCipher([randomBytes(32)]), 'cookies')
    const { cipher } = world.storage
    const values = [
      await foreign.seal(`session:${secret}`),
      await createSealedText(cipher, 'other').seal(`session:${secret}`),
      await world.app.deps.cookies.seal(`oidc:${secret}`),
      await world.app.deps.cookies.seal(secret),
      await world.app.deps.cookies.seal(`session:${secret}x`),
      cipher.seal(secret, 'cookie.service_session').toString('base64url'),
      Buffer.from(secret).toString('base64url'),
    ]
    for (const [index, value] of values.entries()) assert.equal((await withCookie(value)).status, 401, `value ${index}`)
    assert.equal((await withCookie(await world.app.deps.cookies.seal(`session:${secret}`))).status, 200)
  })

  test('a cookie sealed by the previous key opens its session while that key is set, and not after', async () => {
    const [previous, newest] = [randomBytes(32), randomBytes(32)]
    const sealed = await createSealedText(createCipher([previous]), 'cookies').seal('session:x')
    assert.equal(await createSealedText(createCipher([newest, previous]), 'cookies').open(sealed), 'session:x')
    assert.equal(await createSealedText(createCipher([newest]), 'cookies').open(sealed), undefined)
  })

  test('the cookie is found after one that a neighboring host has set', async () => {
    const browser = await signIn(await aPersonWithPassword(world, database))
    const answer = await new Browser(world.baseUrl).call('GET me', undefined, {
      cookie: `other=1; ${COOKIE}=junk; ${browser.header()}`,
    })
    assert.equal(answer.status, 200)
  })

  test('a cookie that someone planted before sign-in does not become the session, and its own session ends', async () => {
    const [attacker, victim] = [await aPersonWithPassword(world, database), await aPersonWithPassword(world, database)]
    const planted = await signIn(attacker)
    const cookie = planted.cookies.get(COOKIE) ?? ''
    const browser = new Browser(world.baseUrl)
    browser.cookies.set(COOKIE, cookie)
    await signIn(victim, browser)
    assert.notEqual(browser.cookies.get(COOKIE), cookie)
    assert.equal((await browser.call('GET account')).body.user.email, victim.email)
    assert.equal(await works(planted), false, 'the planted session has ended')
  })
})

describe('a session', () => {
  test('a session expires after 12 hours without use, to the millisecond, and each use extends it', async () => {
    const [idle, used] = [
      await signIn(await aPersonWithPassword(world, database)),
      await signIn(await aPersonWithPassword(world, database)),
    ]
    const began = world.clock.now()
    world.clock.set(began + LIMITS.sessionIdleMs - 1)
    assert.equal(await works(used), true)
    world.clock.set(began + LIMITS.sessionIdleMs)
    assert.deepEqual([await works(idle), await works(used)], [false, true])
  })

  test('a session expires after 7 days however much it is used', async () => {
    const browser = await signIn(await aPersonWithPassword(world, database))
    const began = world.clock.now()
    const end = began + LIMITS.sessionMs
    for (let at = began; at < end - 3_600_000; at += 11 * 3_600_000) {
      world.clock.set(at)
      assert.equal(await works(browser), true)
    }
    world.clock.set(end - 1)
    assert.equal(await works(browser), true)
    world.clock.set(end)
    assert.equal(await works(browser), false)
  })

  test('the last use of a session is written at most once a minute', async () => {
    const person = await aPersonWithPassword(world, database)
    const browser = await signIn(person)
    const seen = async () =>
      (
        await database.one<{ last_seen_at: Date }>(
          sql`select last_seen_at from sessions where user_id = ${person.userId}`,
        )
      ).last_seen_at.getTime()
    const began = world.clock.now()
    world.clock.set(began + 59_999)
    await works(browser)
    assert.equal(await seen(), began)
    world.clock.set(began + 60_000)
    await works(browser)
    assert.equal(await seen(), began + 60_000)
  })

  test('signing out ends a session immediately, on this node and on others, and its cookie is useless afterwards', async () => {
    const beside = await aWorld({ beside: world, now: world.clock.now() })
    try {
      const browser = await signIn(await aPersonWithPassword(world, database))
      const kept = browser.header()
      const there = () => new Browser(beside.baseUrl).call('GET me', undefined, { cookie: kept })
      assert.equal((await there()).status, 200)
      const out = await browser.call('DELETE session')
      assert.match(out.headers.getSetCookie()[0] ?? '', /^service_session=; .*Max-Age=0/)
      assert.equal((await there()).status, 401)
      assert.equal((await new Browser(world.baseUrl).call('GET me', undefined, { cookie: kept })).status, 401)
      assert.equal(
        (await new Browser(world.baseUrl).call('DELETE session', undefined, { cookie: kept })).status,
        200,
        'to sign out twice is not an error',
      )
    } finally {
      await beside.stop()
    }
  })

  test('the open streams of a session end with it', async () => {
    const browser = await signIn(await aPersonWithPassword(world, database))
    const client = await sse(`${world.baseUrl}/admin/api/stream`, { headers: { cookie: browser.header() } })
    await browser.call('DELETE session')
    for (let seconds = 0; seconds < 6; seconds += 1) {
      await world.quiet()
      world.clock.advance(1_000)
    }
    await client.first(({ type }) => type === 'closing')
    await client.ended
  })

  test('the list of sessions shows method, origin and time; one request signs out a session by its id, and one signs out all', async () => {
    const person = await aPersonWithPassword(world, database)
    const [one, two, three] = [await signIn(person), await signIn(person), await signIn(person)]
    const { sessions } = (await one.call('GET account/sessions')).body
    assert.equal(sessions.length, 3)
    assert.deepEqual(sessions.filter(({ current }: { current: boolean }) => current).length, 1)
    for (const { id, method, ip, user_agent } of sessions) {
      assert.match(id, /^ses_/)
      assert.deepEqual([method, ip, user_agent], ['password', '127.0.0.1', 'node'])
    }
    const other = (await two.call('GET account/sessions')).body.sessions.find(
      ({ current }: { current: boolean }) => current,
    )
    assert.equal((await one.call(`DELETE account/sessions/${other.id}`)).status, 200)
    assert.deepEqual([await works(one), await works(two), await works(three)], [true, false, true])
    assert.equal((await one.call('DELETE account/sessions')).status, 200)
    assert.deepEqual([await works(one), await works(three), one.cookies.size], [false, false, 0])
  })

  test('a session of another person gets the same answer as an unknown session', async () => {
    const [own, foreign] = [
      await signIn(await aPersonWithPassword(world, database)),
      await signIn(await aPersonWithPassword(world, database)),
    ]
    const { id } = (await foreign.call('GET account/sessions')).body.sessions[0]
    const answers = await Promise.all(
      [id, 'ses_01kf0rdqg0e31tkzsaqv275w2x', 'ses_no'].map((one) => own.call(`DELETE account/sessions/${one}`)),
    )
    for (const { status, body } of answers) assert.deepEqual([status, body], [404, answers[1]?.body])
    assert.equal(await works(foreign), true)
  })

  test('the session of a person who was removed from a workspace continues in another one, and reads nothing of the first', async () => {
    const person = await aPersonWithPassword(world, database)
    const second = await aWorkspace(world, database, 'second')
    const browser = await signIn(person)
    const [first] = [(await browser.call('GET me')).body.workspace.slug]
    await database.run(
      sql`insert into members (workspace_id, user_id, role, created_at) values (${second.workspaceId}, ${person.userId}, 'viewer', ${new Date(world.clock.now())})`,
    )
    assert.deepEqual([first, (await browser.call('GET me')).body.workspace.slug], ['main', 'main'])
    await database.run(
      sql`delete from members where user_id = ${person.userId} and workspace_id <> ${second.workspaceId}`,
    )
    const now = (await browser.call('GET me')).body
    assert.deepEqual([now.workspace.slug, now.role], ['second', 'viewer'])
    await database.run(sql`delete from members where user_id = ${person.userId}`)
    assert.equal((await browser.call('GET me')).body.reason, 'no_workspace')
    assert.equal((await browser.call('GET account')).status, 200, 'the account itself is still theirs')
  })

  test('the start and the end of a session write an audit row with the person and the method, and no secret', async () => {
    const person = await aPersonWithPassword(world, database)
    const browser = await signIn(person)
    await browser.call('DELETE session')
    const { user_id: _none, ...rows } = {
      user_id: '',
      rows: await database.many<{ action: string; actor: string; details: string }>(
        sql`select action, actor, details from audit_rows where action in ('sign_in', 'sign_out') order by id desc limit 2`,
      ),
    }
    assert.deepEqual(
      rows.rows.map(({ action }) => action),
      ['sign_out', 'sign_in'],
    )
    assert.deepEqual(JSON.parse(rows.rows[1]?.details ?? '{}'), { method: 'password' })
    assert.match(rows.rows[0]?.actor ?? '', /^usr_/)
  })
})

test('an API key does not become a session, and in a request with a session and a key the key counts', async () => {
  const owner = await anOwner(world)
  const key = { authorization: `Bearer ${world.installed.api_key}` }
  assert.ok('api_key' in (await owner.call('GET me', undefined, key)).body)
  assert.equal((await new Browser(world.baseUrl).call('POST session', {}, key)).status, 400)
})

test('a person has one rate limit for their account and the rest of the admin API, whatever session they use', async () => {
  const strict = await aWorld({ beside: world, now: world.clock.now() + 3_600_000, env: { ADMIN_REQUESTS_MAX: '5' } })
  try {
    const person = await aPersonWithPassword(world, database)
    const [one, two] = [
      await signIn(person, new Browser(strict.address)),
      await signIn(person, new Browser(strict.address)),
    ]
    for (const line of ['GET me', 'GET account', 'GET account/sessions', 'GET me'])
      assert.equal((await one.call(line)).status, 200)
    assert.equal((await two.call('GET account')).status, 200)
    for (const line of ['GET account', 'GET me']) {
      const over = await two.call(line)
      assert.deepEqual([over.status, over.body.reason, over.headers.get('retry-after')], [429, 'rate_limited', '10'])
    }
    strict.clock.advance(10_000)
    assert.equal((await one.call('GET account')).status, 200)
  } finally {
    world.clock.set(strict.clock.now())
    await strict.stop()
  }
})

test('a person without a password cannot sign in by a password', async () => {
  const { email } = await aPerson(world, database)
  for (const password of ['', 'null', 'undefined', ' ']) {
    const { status } = await new Browser(world.baseUrl).call('POST session', { email, password })
    assert.ok(status === 400 || status === 401)
  }
})
