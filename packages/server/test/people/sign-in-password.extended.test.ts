import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { createPasswordHash } from '../../src/platform/password-hash.ts'
import { isPassword } from '../../src/resources/people/passwords/index.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { Mailbox } from '../stage/mailbox.ts'
import { aPerson, aPersonWithPassword, PASSWORD } from '../stage/accounts.ts'

/** Sign-in by password. */
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
const guess = (email: string, password = 'a wrong one') => browser().call('POST session', { email, password })
const OTHER_PASSWORD = 'copper meadow whistle nine'
const MINUTE_MS = 60_000

describe('a password', () => {
  test('a wrong password, an unknown account and an account without a password are refused alike, after the same work', async () => {
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

  test('a person signs in although the page after it has a long address', async () => {
    const { email } = await aPersonWithPassword(world, database)
    const { status, body } = await browser().call('POST session', {
      email,
      password: PASSWORD,
      next: `/${'x'.repeat(4_000)}`,
    })
    assert.deepEqual([status, body.next], [200, '/'])
  })

  test('a password is stored with its own hash parameters, and hashed again at the next sign-in when those have changed', async () => {
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

  test('a password can be guessed ten times, then once a minute; the right password waits too, an unknown account waits just as long, and other accounts do not wait', async () => {
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
    assert.equal((await guess(person.email)).status, 401, 'the right password resets the count of wrong ones')
  })

  test('guesses are not faster when the address is written in another way', async () => {
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

  test('a person who knows the current password can change it; every other session ends, and this one gets a new cookie', async () => {
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
      'a copy of the previous cookie',
    )
    assert.equal((await browser().call('POST session', { email: person.email, password: PASSWORD })).status, 401)
    assert.match((await box.next(world)).text, /was changed/)
  })
})
