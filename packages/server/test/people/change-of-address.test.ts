import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { linkIn, Mailbox } from '../stage/mailbox.ts'
import { aPerson, aPersonWithPassword, PASSWORD } from '../stage/accounts.ts'
import { atGate, rowsGate } from '../stage/gates.ts'

/** A change of the email address of an account ends every link to the old one. */
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
const OTHER_PASSWORD = 'copper meadow whistle nine'

const liveLinks = async (userId: string): Promise<number> =>
  (
    await database.one<{ live: number }>(
      sql`select count(*) as live from one_time_tokens where user_id = ${userId} and used_at is null`,
    )
  ).live

describe('a change of address', () => {
  test('a change of address ends every link that was mailed to the old address: sign-in, reset and confirmation', async () => {
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

  test('a change of address leaves no live link to the old address when the link is requested during the change', async () => {
    const person = await aPerson(world, database)
    let asked: Promise<Answer> | undefined
    const change = rowsGate(
      'the row of the person',
      sql`update users set email = 'changed-meanwhile@example.com' where id = ${person.userId}`,
    )
    await atGate(database, change, async (gate) => {
      asked = browser().call('POST session/links', { email: person.email })
      await gate.waiting()
    })
    assert.equal((await asked)?.status, 200, 'the answer is the same as for any address')
    assert.equal(await liveLinks(person.userId), 0)
    await world.run('mail.send')
    assert.deepEqual(await box.unread(), [])
  })

  test('a change of address needs a sign-in within the last 15 minutes, and the refusal asks the person to sign in again', async () => {
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
