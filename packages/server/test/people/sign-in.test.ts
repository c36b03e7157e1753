import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LIMITS, signInRoutes, type SignInRoute } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { createPasswordHash } from '../../src/platform/password-hash.ts'
import { signInLink } from '../../src/resources/operate/installation/index.ts'
import { isPassword } from '../../src/resources/people/passwords/index.ts'
import { Browser } from '../stage/browser.ts'
import { behind, Wire } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { linkIn, Mailbox } from '../stage/mailbox.ts'
import { anOwner, aPerson, aPersonWithPassword, PASSWORD, signedIn } from '../stage/accounts.ts'

let world: World
let database: Database
let box: Mailbox

before(async () => {
  box = await Mailbox.open()
  world = await aWorld({ env: { DATA_DIR: box.folder } })
  database = behind(world)
})
after(async () => {
  await database.close()
  await world.stop()
  await box.remove()
})

const browser = (): Browser => new Browser(world.baseUrl)
const guess = (email: string, password = 'a wrong one') => browser().call('POST session', { email, password })
const askOften = () => browser().call('POST session/links', { email: 'often@example.com' })
const urlOf = (route: SignInRoute) => route.path.replaceAll(/\{\w+\}/g, 'x')
const sign = (url: string) => browser().call('POST session', { token: new URL(url).hash.slice(3) })
const OTHER_PASSWORD = 'copper meadow whistle nine'
const MINUTE_MS = 60_000

const liveLinks = async (userId: string): Promise<number> =>
  (
    await database.one<{ live: number }>(
      sql`select count(*) as live from one_time_tokens where user_id = ${userId} and used_at is null`,
    )
  ).live

const lockWaiters = async (db: Database): Promise<number> =>
  (
    await db.one<{ waiting: number }>(
      sql`select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).waiting

test('an owner signs in by the printed link, confirms an address, sets a password, and signs in by it from then on', async () => {
  const owner = await anOwner(world)
  assert.equal((await owner.call('POST account/email', { email: 'Owner@Example.com' })).status, 200)
  const letter = await box.next(world)
  assert.match(letter.to, /Owner@example\.com/i)
  assert.equal((await owner.call('GET account')).body.user.email, null, "an address that nobody has proven is nobody's")
  assert.equal((await owner.call('PUT account/email', { token: linkIn(letter).token })).body.email, 'Owner@Example.com')
  assert.equal((await owner.call('PUT account/password', { new_password: PASSWORD })).status, 200)
  assert.match((await box.next(world)).text, /password of your Postroad account was changed/)
  const later = browser()
  const answer = await later.call('POST session', { email: 'owner@example.com', password: PASSWORD })
  assert.deepEqual(answer.body, { ok: true, next: '/' })
  assert.equal((await later.call('GET me')).body.role, 'owner')
})

describe('a password', () => {
  test('of an unknown account, of one without a password, and a wrong one are refused alike, after the same work', async () => {
    const [person, bare] = [await aPersonWithPassword(world, database), await aPerson(world, database)]
    const answers = await Promise.all(
      [person.email, bare.email, 'nobody@example.com'].map((email) =>
        browser().call('POST session', { email, password: 'not the right one' }),
      ),
    )
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body]),
      Array.from({ length: 3 }, () => [401, answers[0]?.body]),
    )
    assert.equal(answers[0]?.body.reason, 'sign_in_failed')

    const real = createPasswordHash()
    let hashed = 0
    const counting = {
      ...real,
      verify: (a: string, b: string) => ((hashed += 1), real.verify(a, b)),
      pretend: (a: string) => ((hashed += 1), real.pretend(a)),
    }
    for (const userId of [person.userId, bare.userId, undefined]) {
      assert.equal(
        await isPassword({ ...world.app.deps, passwordHash: counting }, { userId, password: 'wrong' }),
        false,
      )
    }
    assert.equal(hashed, 3)
  })

  test('is stored under its own parameters, and hashed anew at the next sign-in when those have changed', async () => {
    const person = await aPersonWithPassword(world, database)
    const old = await createPasswordHash({ memory: 8_192, passes: 1, parallelism: 1 }).hash(PASSWORD)
    await database.run(sql`update passwords set hash = ${old} where user_id = ${person.userId}`)
    assert.equal((await browser().call('POST session', { email: person.email, password: PASSWORD })).status, 200)
    const { hash } = await database.one<{ hash: string }>(
      sql`select hash from passwords where user_id = ${person.userId}`,
    )
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal((await browser().call('POST session', { email: person.email, password: PASSWORD })).status, 200)
  })

  test('may be guessed ten times, then once a minute; the right one waits too, an account that is not there just as long, others not at all', async () => {
    const [person, other] = [await aPersonWithPassword(world, database), await aPersonWithPassword(world, database)]
    for (const email of [person.email, 'absent@example.com']) {
      world.clock.advance(10 * MINUTE_MS)
      for (let tries = 0; tries < 10; tries += 1) assert.equal((await guess(email)).status, 401)
      const over = await guess(email, PASSWORD)
      assert.equal(over.status, 429)
      assert.deepEqual(
        [over.body.reason, over.body.retry_after, over.headers.get('retry-after')],
        ['too_many_attempts', 60, '60'],
      )
    }
    assert.equal((await guess(other.email, PASSWORD)).status, 200)
    world.clock.advance(MINUTE_MS)
    assert.equal((await guess(person.email, PASSWORD)).status, 200)
    assert.equal((await guess(person.email)).status, 401, 'the right password has forgiven the wrong ones')
  })

  test('is not guessed faster by writing the address in another way', async () => {
    const person = await aPersonWithPassword(world, database)
    world.clock.advance(10 * MINUTE_MS)
    const spellings = [person.email, person.email.toUpperCase(), ` ${person.email} `]
    for (let tries = 0; tries < 10; tries += 1) {
      assert.equal(
        (await browser().call('POST session', { email: spellings[tries % 3], password: 'a wrong one' })).status,
        401,
      )
    }
    assert.equal(
      (await browser().call('POST session', { email: person.email.toUpperCase(), password: PASSWORD })).status,
      429,
    )
  })

  test('is changed by who knows the current one; every other session ends, and this one gets a new cookie', async () => {
    world.clock.advance(10 * MINUTE_MS)
    const person = await aPersonWithPassword(world, database)
    const [here, there] = [browser(), browser()]
    for (const one of [here, there]) await one.call('POST session', { email: person.email, password: PASSWORD })
    const copied = here.header()
    for (const body of [
      { new_password: OTHER_PASSWORD },
      { current_password: 'not it', new_password: OTHER_PASSWORD },
    ]) {
      const refused = await here.call('PUT account/password', body)
      assert.deepEqual([refused.status, refused.body.reason], [403, 'wrong_password'])
    }
    assert.equal(
      (await here.call('PUT account/password', { current_password: PASSWORD, new_password: OTHER_PASSWORD })).status,
      200,
    )
    assert.equal((await here.call('GET account')).status, 200)
    assert.equal((await there.call('GET account')).status, 401)
    assert.equal(
      (await browser().call('GET account', undefined, { cookie: copied })).status,
      401,
      'a copy of the former cookie',
    )
    assert.equal((await browser().call('POST session', { email: person.email, password: PASSWORD })).status, 401)
    assert.match((await box.next(world)).text, /was changed/)
  })
})

describe('a mailed link', () => {
  test('signs in once, and no GET spends it', async () => {
    const person = await aPerson(world, database)
    await browser().call('POST session/links', { email: person.email, next: '/account' })
    const { url, token, next } = linkIn(await box.next(world))
    assert.equal(url.origin, world.baseUrl)
    assert.equal(next, '/account')
    for (const method of ['GET', 'HEAD']) assert.equal((await fetch(url, { method })).status, 200)
    assert.equal((await browser().call('POST session', { token, next })).body.next, '/account')
    const again = await browser().call('POST session', { token })
    assert.deepEqual([again.status, again.body.reason, again.headers.getSetCookie()], [401, 'link_over', []])
  })

  test('is good for 15 minutes to the millisecond', async () => {
    const person = await aPerson(world, database)
    await browser().call('POST session/links', { email: person.email })
    const asked = world.clock.now()
    const { token } = linkIn(await box.next(world))
    world.clock.set(asked + LIMITS.mailLinkMs)
    assert.equal((await browser().call('POST session', { token })).body.reason, 'link_over')
    world.clock.set(asked + LIMITS.mailLinkMs - 1)
    assert.equal((await browser().call('POST session', { token })).status, 200)
  })

  test('lets one in when two use it at once', async () => {
    const person = await aPerson(world, database)
    await browser().call('POST session/links', { email: person.email })
    const { token } = linkIn(await box.next(world))
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser().call('POST session', { token })))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 401, 401, 401, 401],
    )
  })

  test('is asked for in the same words and rows whether or not there is an account, and only an account gets one', async () => {
    const person = await aPerson(world, database)
    const count = async () =>
      database.one<{ mails: number; tokens: number }>(
        sql`select (select count(*) from mails) as mails, (select count(*) from one_time_tokens) as tokens`,
      )
    const rows: object[] = []
    const answers: [number, unknown][] = []
    for (const path of ['session/links', 'account/password-reset']) {
      for (const email of [person.email, 'nobody-at-all@example.com']) {
        const had = await count()
        const { status, body } = await browser().call(`POST ${path}`, { email })
        const now = await count()
        rows.push({ mails: now.mails - had.mails, tokens: now.tokens - had.tokens })
        answers.push([status, body])
      }
    }
    assert.deepEqual(
      rows,
      Array.from({ length: 4 }, () => ({ mails: 1, tokens: 1 })),
    )
    assert.deepEqual(
      answers,
      Array.from({ length: 4 }, () => [200, { ok: true }]),
    )
    assert.deepEqual([(await box.next(world)).to, (await box.next(world)).to], [person.email, person.email])
    world.clock.advance(2_000)
    assert.deepEqual(await box.unread(), [])
  })

  test('is mailed three times to one address, then once in five minutes', async () => {
    for (let asked = 0; asked < 3; asked += 1) assert.equal((await askOften()).status, 200)
    assert.deepEqual([(await askOften()).body.reason, (await askOften()).body.retry_after], ['too_many_attempts', 300])
    world.clock.advance(300_000)
    assert.equal((await askOften()).status, 200)
  })

  test('points to the server whatever the Host and X-Forwarded-Host of the request say', async () => {
    const person = await aPerson(world, database)
    const body = JSON.stringify({ email: person.email })
    const wire = new Wire(world.baseUrl)
    wire.send(
      `POST /admin/api/session/links HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\nX-Requested-With: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    assert.equal((await wire.answer())?.status, 200)
    wire.destroy()
    const letter = await box.next(world)
    assert.equal(linkIn(letter).url.origin, world.baseUrl)
    assert.doesNotMatch(letter.raw, /evil/)
  })

  test('of one kind does nothing of another', async () => {
    const person = await aPerson(world, database)
    await browser().call('POST account/password-reset', { email: person.email })
    const { token } = linkIn(await box.next(world))
    assert.equal((await browser().call('POST session', { token })).body.reason, 'link_over')
    const signed = await signedIn(world, box, person)
    assert.equal((await signed.call('PUT account/email', { token })).body.reason, 'link_over')
    assert.equal((await browser().call('PUT account/password-reset', { token, new_password: PASSWORD })).status, 200)
    assert.match((await box.next(world)).text, /was changed/)
  })

  test('that resets a password ends every session, every other link and the old password, and a refused password costs no link', async () => {
    const person = await aPersonWithPassword(world, database)
    const former = browser()
    await former.call('POST session', { email: person.email, password: PASSWORD })
    await browser().call('POST session/links', { email: person.email })
    const signIn = linkIn(await box.next(world))
    await browser().call('POST account/password-reset', { email: person.email })
    const { token } = linkIn(await box.next(world))
    const weak = await browser().call('PUT account/password-reset', { token, new_password: 'Password2026!' })
    assert.deepEqual([weak.status, weak.body.reason], [400, 'weak_password'])
    const fresh = browser()
    assert.equal((await fresh.call('PUT account/password-reset', { token, new_password: OTHER_PASSWORD })).status, 200)
    assert.equal((await fresh.call('GET account')).status, 200)
    assert.equal((await former.call('GET account')).status, 401)
    assert.equal((await browser().call('POST session', { token: signIn.token })).status, 401)
    assert.equal((await browser().call('POST session', { email: person.email, password: PASSWORD })).status, 401)
    assert.equal(
      (await browser().call('PUT account/password-reset', { token, new_password: PASSWORD })).body.reason,
      'link_over',
    )
    await box.next(world)
  })

  test('that confirms an address works for the account that asked, and an address has one account', async () => {
    const [one, two] = [await aPerson(world, database), await aPerson(world, database)]
    const [first, second] = [await signedIn(world, box, one), await signedIn(world, box, two)]
    await first.call('POST account/email', { email: 'shared@example.com' })
    const asked = linkIn(await box.next(world))
    assert.equal(
      (await second.call('PUT account/email', { token: asked.token })).body.reason,
      'link_over',
      'a stranger confirms nothing for somebody else',
    )
    await second.call('POST account/email', { email: 'SHARED@example.com' })
    const alsoAsked = linkIn(await box.next(world))
    assert.equal((await second.call('PUT account/email', { token: alsoAsked.token })).status, 200)
    assert.match((await box.next(world)).text, /changed to another/)
    assert.deepEqual((await first.call('POST account/email', { email: 'shared@example.com' })).body, { ok: true })
    world.clock.advance(2_000)
    assert.deepEqual(await box.unread(), [], 'who has it already learns of it by nothing')
  })
})

describe('a change of address', () => {
  test('ends every link that was mailed to the old address: sign-in, reset and confirmation', async () => {
    const person = await aPersonWithPassword(world, database)
    const own = browser()
    await own.call('POST session', { email: person.email, password: PASSWORD })
    await browser().call('POST session/links', { email: person.email })
    const signIn = linkIn(await box.next(world)).token
    await browser().call('POST account/password-reset', { email: person.email })
    const reset = linkIn(await box.next(world)).token
    await own.call('POST account/email', { email: person.email })
    const confirmation = linkIn(await box.next(world)).token
    await own.call('POST account/email', { email: 'moved-on@example.com' })
    const moved = linkIn(await box.next(world)).token
    assert.equal((await own.call('PUT account/email', { token: moved })).status, 200)
    await box.next(world)
    const answers = [
      await browser().call('POST session', { token: signIn }),
      await browser().call('PUT account/password-reset', { token: reset, new_password: OTHER_PASSWORD }),
      await own.call('PUT account/email', { token: confirmation }),
    ]
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.reason]),
      [
        [401, 'link_over'],
        [401, 'link_over'],
        [401, 'link_over'],
      ],
    )
    assert.equal((await own.call('GET account')).body.user.email, 'moved-on@example.com')
  })

  test('leaves no live link to the old address when the link is requested during the change', async () => {
    const person = await aPerson(world, database)
    let asked: Promise<Answer> | undefined
    await database.transaction(async (tx) => {
      await tx.run(sql`update users set email = 'changed-meanwhile@example.com' where id = ${person.userId}`)
      asked = browser().call('POST session/links', { email: person.email })
      await eventually(async () =>
        (await lockWaiters(database)) > 0 || (await liveLinks(person.userId)) > 0 ? true : undefined,
      )
    })
    assert.equal((await asked)?.status, 200, 'the answer is the same as for any address')
    assert.equal(await liveLinks(person.userId), 0)
    world.clock.advance(2_000)
    assert.deepEqual(await box.unread(), [])
  })

  test('needs a sign-in within the last 15 minutes, and the refusal says to sign in again', async () => {
    const person = await aPersonWithPassword(world, database)
    const own = browser()
    await own.call('POST session', { email: person.email, password: PASSWORD })
    world.clock.advance(LIMITS.recentSignInMs)
    assert.equal((await own.call('POST account/email', { email: 'in-time@example.com' })).status, 200)
    const { token } = linkIn(await box.next(world))
    world.clock.advance(1)
    const late = await own.call('POST account/email', { email: 'too-late@example.com' })
    assert.deepEqual([late.status, late.body.reason], [403, 'recent_sign_in_required'])
    assert.match(late.body.error, /Sign in again/)
    assert.equal((await own.call('PUT account/email', { token })).status, 200, 'the link was requested in time')
    await box.next(world)
    await own.call('POST session', { email: 'in-time@example.com', password: PASSWORD })
    assert.equal((await own.call('POST account/email', { email: 'again@example.com' })).status, 200)
    await box.next(world)
  })
})

test('a first password and a new passkey need a sign-in within the last 15 minutes; a password is changed by the current one at any time', async () => {
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

test('a new sign-in link of the server ends the one before, works once and within an hour', async () => {
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

describe('every route of signing in', () => {
  const ALL = Object.entries<SignInRoute>(signInRoutes)

  test('refuses a change without X-Requested-With, whatever method an override header names', async () => {
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
    assert.equal((await owner.call('GET account')).status, 200, 'and nothing was signed out by it')
  })

  test('that is for somebody signed in answers 401 to nobody and to an API key', async () => {
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

  test('is described in /openapi.json, answers no page of another origin, and is kept in no cache', async () => {
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
