import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { hashCredential } from '../../src/platform/cipher.ts'
import { Browser } from '../stage/browser.ts'
import { behind, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { linkIn, Mailbox } from '../stage/mailbox.ts'
import { aKeyOf, aMember, ask, aWorkspace, type Headers, type Member } from '../stage/people.ts'

/** Invites to a workspace (contract parts 1, 2 and 5). */
let world: World
let database: Database
let box: Mailbox

before(async () => {
  box = await Mailbox.open()
  world = await aWorld({ env: { ROLES: 'web,work', DATA_DIR: box.folder }, loops: [] })
  database = behind(world)
})
after(async () => {
  await database.close()
  await world.stop()
  await box.remove()
})

type Home = Member & { readonly slug: string; headers: Headers }

let made = 0

async function aHome(): Promise<Home> {
  made += 1
  const owner = await aWorkspace(world, database, `home-${made}`)
  return { ...owner, slug: `home-${made}`, headers: await signedIn(world, owner) }
}

const anEmail = (): string => `invited-${(made += 1)}@example.com`
const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const invite = (by: Headers, email: string, role = 'developer'): Promise<Answer> =>
  ask(world, 'POST invites', { headers: by, body: { email, role } })
const accept = (by: Headers, token: string): Promise<Answer> =>
  ask(world, 'POST invites/accept', { headers: by, body: { token } })

/** A person with a proven address and a separate workspace. */
async function aPersonAt(email: string): Promise<Home> {
  const home = await aHome()
  await database.run(sql`update users set email = ${email} where id = ${home.userId}`)
  return home
}

/** Invites an address and returns the token of the email. */
async function invited(home: Home, email: string, role?: string): Promise<{ id: string; token: string }> {
  const answer = await invite(home.headers, email, role)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  const mailed = await box.next(world)
  assert.equal(mailed.to, email)
  return { id: answer.body.invite.id, token: linkIn(mailed).token }
}

const membership = async (home: Home, who: Member): Promise<string | undefined> =>
  (
    await database.maybe<{ role: string }>(
      sql`select role from members where workspace_id = ${home.workspaceId} and user_id = ${who.userId}`,
    )
  )?.role
const actions = async (home: Home): Promise<readonly string[]> =>
  (
    await database.many<{ action: string }>(
      sql`select action from audit_rows where workspace_id = ${home.workspaceId} and action <> 'sign_in' order by id`,
    )
  ).map(({ action }) => action)

test('an invite is mailed as a link, and a person who accepts it becomes a member with its role', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const reader = await aPersonAt(email.toUpperCase())
  const { id, token } = await invited(home, email)
  const { body } = await ask(world, 'GET invites', { headers: home.headers })
  assert.deepEqual(
    body.invites.map((one: { id: string; email: string; role: string; status: string }) => [
      one.id,
      one.email,
      one.role,
      one.status,
    ]),
    [[id, email, 'developer', 'pending']],
  )
  const accepted = await accept(reader.headers, token)
  assert.deepEqual([accepted.status, accepted.body.workspace.slug, accepted.body.role], [200, home.slug, 'developer'])
  assert.equal(await membership(home, reader), 'developer')
  const me = (await ask(world, 'GET me', { headers: reader.headers })).body
  assert.deepEqual([me.workspace.slug, me.role], [home.slug, 'developer'], 'the session moved there')
  assert.deepEqual((await ask(world, 'GET invites', { headers: home.headers })).body.invites, [])
  assert.deepEqual(await actions(home), ['create_invite', 'accept_invite'])
})

test('an invite works once, also for two people who accept it at the same moment', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const reader = await aPersonAt(email)
  const { token } = await invited(home, email)
  const answers = await Promise.all([accept(reader.headers, token), accept(reader.headers, token)])
  assert.deepEqual(answers.map(said).toSorted(), ['200', '404 invite_over'])
  assert.equal(said(await accept(reader.headers, token)), '404 invite_over')
})

test('an invite expires after 7 days, to the millisecond', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const { id, token } = await invited(home, email)
  const expiresAt = Date.parse((await ask(world, 'GET invites', { headers: home.headers })).body.invites[0].expires_at)
  const reader = await aPersonAt(email)
  await database.run(
    sql`update invites set expires_at = ${new Date(world.clock.now())} where token_hash = ${hashCredential(token)}`,
  )
  assert.equal(said(await accept(reader.headers, token)), '404 invite_over')
  const [listed] = (await ask(world, 'GET invites', { headers: home.headers })).body.invites
  assert.deepEqual([listed.id, listed.status], [id, 'expired'])
  assert.equal(expiresAt - Date.parse(listed.created_at), LIMITS.inviteMs)
  assert.equal(await membership(home, reader), undefined)
})

test('only a person who has proven the invited address can accept', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const { token } = await invited(home, email)
  for (const other of [await aPersonAt(anEmail()), await aHome()]) {
    assert.equal(said(await accept(other.headers, token)), '403 invite_for_another')
    assert.equal(await membership(home, other), undefined)
  }
  assert.equal(said(await accept({ 'x-requested-with': 'test' }, token)), '401 unauthorized')
  assert.equal(said(await accept((await aPersonAt(email)).headers, token)), '200', 'the refusals did not consume it')
})

test('a person without an account gets one by proving the invited address, and accepts without being in any workspace', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const browser = new Browser(world.baseUrl)
  await browser.call('POST session/links', { email })
  const { token } = await invited(home, email, 'viewer')
  await browser.call('POST session/links', { email, next: `/invites/accept#t=${token}` })
  const link = linkIn(await box.next(world))
  assert.equal(link.next, `/invites/accept#t=${token}`)
  assert.equal((await browser.call('POST session', { token: link.token })).status, 200)
  assert.equal((await browser.call('GET me')).body.reason, 'no_workspace')
  assert.equal((await browser.call('POST invites/accept', { token })).status, 200)
  const me = (await browser.call('GET me')).body
  assert.deepEqual([me.workspace.slug, me.role, me.user.email], [home.slug, 'viewer', email])
})

test('a person who is not invited gets no email by asking for a link', async () => {
  const browser = new Browser(world.baseUrl)
  await world.run('mail.send')
  const had = (await box.unread()).length
  assert.equal((await browser.call('POST session/links', { email: 'nobody-invited-me@example.com' })).status, 200)
  const [row] = await database.many<{ sent: boolean }>(
    sql`select sent_at is not null as sent from mails order by created_at desc, id desc limit 1`,
  )
  await world.run('mail.send')
  assert.deepEqual([row?.sent, (await box.unread()).length], [true, had], 'void: a row for equal timing, and no email')
})

test('a revoked invite no longer works, and an invite that is sent again works only by its new link', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const reader = await aPersonAt(email)
  const { id, token } = await invited(home, email)
  const again = await ask(world, `POST invites/${id}/resend`, { headers: home.headers })
  assert.deepEqual([again.status, again.body.invite.id], [200, id])
  const renewed = linkIn(await box.next(world)).token
  assert.equal(said(await accept(reader.headers, token)), '404 invite_over')
  assert.deepEqual((await ask(world, `DELETE invites/${id}`, { headers: home.headers })).body, { ok: true })
  assert.equal(said(await accept(reader.headers, renewed)), '404 invite_over')
  assert.equal(said(await ask(world, `DELETE invites/${id}`, { headers: home.headers })), '404 not_found')
  assert.deepEqual(await actions(home), ['create_invite', 'resend_invite', 'revoke_invite'])
})

test('nobody invites to a role above their own; an address can be invited once, and not when it belongs to a member', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const admin = await signedIn(world, await aMember(world, database, { workspaceId: home.workspaceId, role: 'admin' }))
  const developer = await signedIn(
    world,
    await aMember(world, database, { workspaceId: home.workspaceId, role: 'developer' }),
  )
  assert.equal(said(await invite(admin, email, 'owner')), '403 insufficient_role')
  assert.equal(said(await invite(developer, email, 'viewer')), '403 insufficient_role')
  assert.equal(said(await invite(admin, email, 'admin')), '201')
  assert.equal(said(await invite(admin, email.toUpperCase(), 'viewer')), '409 invalid_state')
  await database.run(sql`update users set email = 'member@example.com' where id = ${home.userId}`)
  assert.equal(said(await invite(admin, 'Member@example.com', 'viewer')), '409 invalid_state')
  await box.next(world)
})

test('no API key may list, create, resend, revoke or accept an invite', async () => {
  const home = await aHome()
  const { headers } = await aKeyOf(world, database, home)
  const id = `inv_${'0'.repeat(26)}`
  for (const line of [
    'GET invites',
    'POST invites',
    `POST invites/${id}/resend`,
    `DELETE invites/${id}`,
    'POST invites/accept',
  ]) {
    assert.equal(
      said(await ask(world, line, { headers, ...(line.startsWith('POST') ? { body: {} } : {}) })),
      '403 agent_not_permitted',
      line,
    )
  }
})

test('a full plan refuses invites and acceptances, with max_members, members and upgrade_url', async () => {
  const [home, email] = [await aHome(), anEmail()]
  const reader = await aPersonAt(email)
  const { token } = await invited(home, email)
  await database.run(sql`update workspaces set plan = 'free' where id = ${home.workspaceId}`)
  const full = {
    code: 'member_limit_reached',
    max_members: 3,
    members: 3,
    pending_invites: 1,
    upgrade_url: `${world.baseUrl}/settings/billing`,
  }
  await aMember(world, database, { workspaceId: home.workspaceId, role: 'viewer' })
  const last = await aMember(world, database, { workspaceId: home.workspaceId, role: 'viewer' })
  for (const answer of [await invite(home.headers, anEmail()), await accept(reader.headers, token)]) {
    const { error, reason, ...rest } = answer.body
    assert.deepEqual([answer.status, reason, { pending_invites: 1, ...rest }], [403, 'member_limit_reached', full])
    assert.match(error, /allows 3 members/)
  }
  await database.run(sql`delete from members where workspace_id = ${home.workspaceId} and user_id = ${last.userId}`)
  assert.equal(said(await accept(reader.headers, token)), '200')
})

test('pending invites count toward the member limit; the same address counts once, an expired or revoked invite does not', async () => {
  const home = await aHome()
  await database.run(sql`update workspaces set plan = 'free' where id = ${home.workspaceId}`)
  const email = anEmail()
  const reader = await aPersonAt(email)
  const { token } = await invited(home, email)
  const second = await invited(home, anEmail())
  const full = await invite(home.headers, anEmail())
  const { max_members, members, pending_invites, upgrade_url } = full.body
  assert.deepEqual(
    [said(full), max_members, members, pending_invites, upgrade_url],
    ['403 member_limit_reached', 3, 1, 2, `${world.baseUrl}/settings/billing`],
  )
  assert.equal(said(await invite(home.headers, email)), '409 invalid_state', 'it is invited already')
  assert.equal(said(await ask(world, `POST invites/${second.id}/resend`, { headers: home.headers })), '200')
  await box.next(world)
  assert.equal(said(await accept(reader.headers, token)), '200')
  assert.equal(said(await invite(home.headers, anEmail())), '403 member_limit_reached')
  await ask(world, `DELETE invites/${second.id}`, { headers: home.headers })
  await invited(home, anEmail())
  assert.equal(said(await invite(home.headers, anEmail())), '403 member_limit_reached')
  world.clock.advance(LIMITS.inviteMs)
  home.headers = await signedIn(world, home)
  assert.equal(said(await invite(home.headers, anEmail())), '201', 'an invite that has expired takes no place')
  await box.next(world)
})

test('of two people who take the last place at the same time, one is refused', async () => {
  const home = await aHome()
  const emails = [anEmail(), anEmail()]
  const tokens = [await invited(home, emails[0] ?? ''), await invited(home, emails[1] ?? '')].map(({ token }) => token)
  const readers = await Promise.all(emails.map(aPersonAt))
  await aMember(world, database, { workspaceId: home.workspaceId, role: 'viewer' })
  await database.run(sql`update workspaces set plan = 'free' where id = ${home.workspaceId}`)
  const answers = await Promise.all(readers.map((reader, index) => accept(reader.headers, tokens[index] ?? '')))
  assert.deepEqual(answers.map(said).toSorted(), ['200', '403 member_limit_reached'])
})

test('while a workspace is suspended its invites can be revoked but not created, and its people can accept invites to other workspaces', async () => {
  const [home, elsewhere, email] = [await aHome(), await aHome(), anEmail()]
  const email2 = anEmail()
  const [reader, reader2] = [await aPersonAt(email), await aPersonAt(email2)]
  const { id } = await invited(home, anEmail())
  const { token } = await invited(elsewhere, email)
  await database.run(
    sql`update workspaces set suspended_at = now() where id = any (${[home.workspaceId, reader.workspaceId]})`,
  )
  assert.equal(said(await invite(home.headers, anEmail())), '403 workspace_suspended')
  assert.equal(
    said(await ask(world, `POST invites/${id}/resend`, { headers: home.headers })),
    '403 workspace_suspended',
  )
  assert.equal(said(await ask(world, `DELETE invites/${id}`, { headers: home.headers })), '200')
  const { token: toSuspended } = await invited(elsewhere, email2)
  await database.run(sql`update workspaces set suspended_at = now() where id = ${elsewhere.workspaceId}`)
  const refused = await accept(reader2.headers, toSuspended)
  assert.equal(said(refused), '403 workspace_suspended', 'only an invite to another workspace is accepted')
  assert.match(refused.body.error, /workspace of this invite is suspended/)
  assert.equal(await membership(elsewhere, reader2), undefined)
  await database.run(sql`update workspaces set suspended_at = null where id = ${elsewhere.workspaceId}`)
  assert.equal(said(await accept(reader.headers, token)), '200')
  assert.equal(said(await accept(reader2.headers, toSuspended)), '200', 'the link works again')
})

test('no table contains the token of an invite in plain text', async () => {
  const { token } = await invited(await aHome(), anEmail())
  for (const { name } of await database.many<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'public'`,
  )) {
    const rows = await database.many<{ row: string }>({ strings: [`select t::text as row from ${name} t`], values: [] })
    assert.ok(!rows.some(({ row }) => row.includes(token) || row.includes(Buffer.from(token).toString('hex'))), name)
  }
})
