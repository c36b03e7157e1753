import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { Browser } from '../stage/browser.ts'
import { behind, Wire } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { linkIn, Mailbox } from '../stage/mailbox.ts'
import { aPerson, aPersonWithPassword, PASSWORD, signedIn } from '../stage/accounts.ts'

/** Sign-in and confirmation by mailed links. */
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
const askOften = () => browser().call('POST session/links', { email: 'often@example.com' })
const OTHER_PASSWORD = 'copper meadow whistle nine'

describe('a mailed link', () => {
  test('a mailed link signs in once, and no GET consumes it', async () => {
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

  test('a mailed link is valid for 15 minutes, to the millisecond', async () => {
    const person = await aPerson(world, database)
    await browser().call('POST session/links', { email: person.email })
    const asked = world.clock.now()
    const { token } = linkIn(await box.next(world))
    world.clock.set(asked + LIMITS.mailLinkMs)
    assert.equal((await browser().call('POST session', { token })).body.reason, 'link_over')
    world.clock.set(asked + LIMITS.mailLinkMs - 1)
    assert.equal((await browser().call('POST session', { token })).status, 200)
  })

  test('a mailed link admits one of several people who use it at the same time', async () => {
    const person = await aPerson(world, database)
    await browser().call('POST session/links', { email: person.email })
    const { token } = linkIn(await box.next(world))
    const answers = await Promise.all(Array.from({ length: 5 }, () => browser().call('POST session', { token })))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 401, 401, 401, 401],
    )
  })

  test('a request for a link gives the same answer and the same rows whether or not there is an account, and only an account gets a link', async () => {
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
    await world.run('mail.send')
    assert.deepEqual(await box.unread(), [])
  })

  test('one address is mailed three links, then one in five minutes', async () => {
    for (let asked = 0; asked < 3; asked += 1) assert.equal((await askOften()).status, 200)
    assert.deepEqual([(await askOften()).body.reason, (await askOften()).body.retry_after], ['too_many_attempts', 300])
    world.clock.advance(300_000)
    assert.equal((await askOften()).status, 200)
  })

  test('a mailed link points to the server whatever the Host and X-Forwarded-Host of the request are', async () => {
    const person = await aPerson(world, database)
    const body = JSON.stringify({ email: person.email })
    const wire = new Wire(world.baseUrl)
    wire.send(
      `POST /admin/api/session/links HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\nX-Requested-With: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    assert.equal((await wire.answer())?.status, 200)
    wire.destroy()
    const mailed = await box.next(world)
    assert.equal(linkIn(mailed).url.origin, world.baseUrl)
    assert.doesNotMatch(mailed.raw, /evil/)
  })

  test('a mailed link of one kind does not work as another kind', async () => {
    const person = await aPerson(world, database)
    await browser().call('POST account/password-reset', { email: person.email })
    const { token } = linkIn(await box.next(world))
    assert.equal((await browser().call('POST session', { token })).body.reason, 'link_over')
    const signed = await signedIn(world, box, person)
    assert.equal((await signed.call('PUT account/email', { token })).body.reason, 'link_over')
    assert.equal((await browser().call('PUT account/password-reset', { token, new_password: PASSWORD })).status, 200)
    assert.match((await box.next(world)).text, /was changed/)
  })

  test('a link that resets a password ends every session, every other link and the old password, and a refused password does not consume the link', async () => {
    const person = await aPersonWithPassword(world, database)
    const previous = browser()
    await previous.call('POST session', { email: person.email, password: PASSWORD })
    await browser().call('POST session/links', { email: person.email })
    const signIn = linkIn(await box.next(world))
    await browser().call('POST account/password-reset', { email: person.email })
    const { token } = linkIn(await box.next(world))
    const weak = await browser().call('PUT account/password-reset', { token, new_password: 'Password2026!' })
    assert.deepEqual([weak.status, weak.body.reason], [400, 'weak_password'])
    const fresh = browser()
    assert.equal((await fresh.call('PUT account/password-reset', { token, new_password: OTHER_PASSWORD })).status, 200)
    assert.equal((await fresh.call('GET account')).status, 200)
    assert.equal((await previous.call('GET account')).status, 401)
    assert.equal((await browser().call('POST session', { token: signIn.token })).status, 401)
    assert.equal((await browser().call('POST session', { email: person.email, password: PASSWORD })).status, 401)
    assert.equal(
      (await browser().call('PUT account/password-reset', { token, new_password: PASSWORD })).body.reason,
      'link_over',
    )
    await box.next(world)
  })

  test('a link that confirms an address works for the account that requested it, and an address has one account', async () => {
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
    await world.run('mail.send')
    assert.deepEqual(await box.unread(), [], 'the owner of the address is not notified')
  })
})
