import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { Browser } from '../stage/browser.ts'
import { behind, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { Mailbox } from '../stage/mailbox.ts'
import { aMember, ask, aWorkspace, theWorkspace, type Headers } from '../stage/people.ts'

/** A server without a mail server promises no email: people hand links over. */
let world: World
let database: Database
let box: Mailbox
/** The owner, who operates the installation as long as nobody else owns a workspace. */
let owner: Headers

before(async () => {
  box = await Mailbox.open()
  world = await aWorld({ env: { DATA_DIR: box.folder, LOG_LEVEL: 'error' }, loops: [] })
  database = behind(world)
  owner = await signedIn(world, await theWorkspace(database))
})
after(async () => {
  await database.close()
  await world.stop()
  await box.remove()
})

type Outbox = Answer['body']
const outbox = async (): Promise<Outbox> =>
  (await ask(world, 'GET platform/health', { headers: owner })).body.health.mails
const invite = async (email: string, by = owner): Promise<{ readonly id: string; readonly link: string }> => {
  const { status, body } = await ask(world, 'POST invites', { headers: by, body: { email, role: 'developer' } })
  assert.equal(status, 201)
  return { id: body.invite.id, link: body.link }
}
const fragmentOf = (link: string): URLSearchParams => new URLSearchParams(new URL(link).hash.slice(1))
/** The token of the invite page to which a link leads. */
const tokenAfter = (link: string): string =>
  new URLSearchParams(new URL(fragmentOf(link).get('next') ?? '', link).hash.slice(1)).get('t') ?? ''

test('an invited person without an account joins with the link that the operator gives them', async () => {
  const { link } = await invite('grace@example.com')
  const grace = new Browser(world.baseUrl)
  const { next } = (
    await grace.call('POST session', { token: fragmentOf(link).get('t'), next: fragmentOf(link).get('next') })
  ).body
  assert.equal(new URL(next, world.baseUrl).pathname, '/invites/accept')
  assert.equal((await grace.call('POST invites/accept', { token: tokenAfter(link) })).status, 200)
  const { user, role } = (await grace.call('GET me')).body
  assert.deepEqual([user.email, role], ['grace@example.com', 'developer'])
  const again = await new Browser(world.baseUrl).call('POST session', { token: fragmentOf(link).get('t') })
  assert.deepEqual([again.status, again.body.reason], [401, 'link_over'])
})

test('after a new link, the previous one signs nobody in, and the new one does', async () => {
  const { id, link } = await invite('renewed@example.com')
  const renewed = (await ask(world, `POST invites/${id}/resend`, { headers: owner, body: {} })).body.link
  const stale = await new Browser(world.baseUrl).call('POST session', { token: fragmentOf(link).get('t') })
  assert.deepEqual([stale.status, stale.body.reason], [401, 'link_over'])
  const fresh = await new Browser(world.baseUrl).call('POST session', { token: fragmentOf(renewed).get('t') })
  assert.equal(fresh.status, 200)
})

test('the link of a revoked invite signs nobody in', async () => {
  const { id, link } = await invite('revoked@example.com')
  assert.equal((await ask(world, `DELETE invites/${id}`, { headers: owner })).status, 200)
  const answer = await new Browser(world.baseUrl).call('POST session', { token: fragmentOf(link).get('t') })
  assert.deepEqual([answer.status, answer.body.reason], [401, 'link_over'])
})

test('the link of an admin who does not operate the installation, or for an existing account, signs nobody in', async () => {
  const { workspaceId } = await theWorkspace(database)
  const member = await aMember(world, database, { workspaceId, role: 'admin' })
  const admin = await signedIn(world, member)
  for (const [by, email] of [
    [admin, 'stranger@example.com'],
    [owner, 'known@example.com'],
  ] as const) {
    if (by === owner) {
      const { userId } = await aWorkspace(world, database, 'of-another')
      await database.run(sql`update users set email = ${email} where id = ${userId}`)
      await database.run(sql`delete from members where user_id = ${userId}`)
    }
    const { link } = await invite(email, by)
    assert.equal(new URL(link).pathname, '/invites/accept')
  }
})

test('an operator lists the emails that nobody got, and the audit log shows who read one', async () => {
  await new Browser(world.baseUrl).call('POST session/links', { email: 'nobody@example.com' })
  await new Browser(world.baseUrl).call('POST session/links', { email: 'grace@example.com' })
  await box.next(world)
  const { mode, outbox: mails } = await outbox()
  assert.equal(mode, 'outbox')
  const [newest] = mails
  assert.deepEqual([newest.to, newest.subject], ['grace@example.com', 'Your Postroad sign-in link'])
  assert.equal(
    mails.some(({ to }: { to: string }) => to === 'nobody@example.com'),
    false,
  )
  const { mail } = (await ask(world, `POST platform/mails/${newest.id}/read`, { headers: owner, body: {} })).body
  assert.ok(mail.text.includes(mail.link))
  const grace = new Browser(world.baseUrl)
  assert.equal((await grace.call('POST session', { token: fragmentOf(mail.link).get('t') })).status, 200)
  const { audit } = (await ask(world, 'GET platform/audit', { headers: owner })).body
  assert.deepEqual(
    [audit[0].action, audit[0].target, audit[0].details.to],
    ['read_mail', newest.id, 'grace@example.com'],
  )
  // The operator alone reads it.
  assert.equal((await grace.call(`POST platform/mails/${newest.id}/read`, {})).status, 403)
})

test('an email leaves the outbox when it is no longer useful, and upkeep deletes its text', async () => {
  await new Browser(world.baseUrl).call('POST session/links', { email: 'grace@example.com' })
  await box.next(world)
  const [newest] = (await outbox()).outbox
  world.clock.advance(900_000)
  owner = await signedIn(world, await theWorkspace(database))
  assert.equal(
    (await outbox()).outbox.some(({ id }: { id: string }) => id === newest.id),
    false,
  )
  const answer = await ask(world, `POST platform/mails/${newest.id}/read`, { headers: owner, body: {} })
  assert.deepEqual([answer.status, answer.body.reason], [404, 'not_found'])
  await world.run('upkeep')
  assert.equal(
    (
      await database.one<{ kept: number }>(
        sql`select count(sealed)::int as kept from mails where kind = 'sign_in_link' and sent_at is not null and in_outbox`,
      )
    ).kept,
    0,
  )
})
