import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { asSystem } from '../../src/as-system.ts'
import { readConfig } from '../../src/config.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { queueMail } from '../../src/resources/people/mails/index.ts'
import { leaseDueMails } from '../../src/resources/people/mails/queries.ts'
import { inTransaction } from '../../src/transaction.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { linkIn, Mailbox, readEmail } from '../stage/mailbox.ts'
import { aPerson } from '../stage/accounts.ts'

type Post = { readonly from: string; readonly to: readonly string[]; readonly user: string; readonly raw: string }

/** A real mail server on a free port that requires a user and a password; `refuse` makes it answer 451 for now. */
type MailServer = { readonly url: string; readonly posts: Post[]; refuse: boolean; stop(): Promise<void> }

async function aMailServer(): Promise<MailServer> {
  const posts: Post[] = []
  const state = { refuse: false }
  const server = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      password === 'pass word' ? done(null, { user: username }) : done(new Error('wrong')),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (state.refuse) return done(Object.assign(new Error('Try later'), { responseCode: 451 }))
        const { mailFrom, rcptTo } = session.envelope
        posts.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: String(session.user),
          raw: Buffer.concat(chunks).toString(),
        })
        return done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return Object.assign(state, {
    url: `smtp://the-user:pass%20word@127.0.0.1:${port}`,
    posts,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  })
}

describe('with a mail server', () => {
  let server: MailServer
  let world: World
  let database: Database

  before(async () => {
    server = await aMailServer()
    world = await aWorld({
      env: { SMTP_URL: server.url, MAIL_FROM: 'Postroad <post@road.example>', LOG_LEVEL: 'silent' },
      loops: [],
    })
    database = behind(world)
  })
  after(async () => {
    await database.close()
    await world.stop()
    await server.stop()
  })

  const ask = async (): Promise<string> => {
    const { email } = await aPerson(world, database)
    assert.equal((await new Browser(world.baseUrl).call('POST session/links', { email })).status, 200)
    return email
  }
  const arrived = async (email: string): Promise<Post> => {
    world.clock.advance(1_000)
    await world.run('mail.send')
    const post = server.posts.find(({ to }) => to.includes(email))
    assert.ok(post !== undefined, 'the email has arrived')
    return post
  }

  test('an email is sent by SMTP with text and HTML, after the request was answered', async () => {
    const email = await ask()
    const post = await arrived(email)
    assert.deepEqual([post.from, post.to, post.user], ['post@road.example', [email], 'the-user'])
    const mailed = readEmail(post.raw)
    assert.equal(mailed.subject, 'Your Postroad sign-in link')
    assert.ok(mailed.html.includes(linkIn(mailed).token) && mailed.html.includes('<a href="'))
    assert.match(mailed.raw, /^From: Postroad <post@road\.example>/m)
    assert.match(mailed.raw, /^Auto-Submitted: auto-generated/m)
  })

  test('an email that the server refuses temporarily is retried, and arrives once', async () => {
    server.refuse = true
    const email = await ask()
    await world.run('mail.send')
    const waiting = await database.one<{ attempts: number; last_error: string }>(
      sql`select attempts, last_error from mails where sent_at is null`,
    )
    assert.match(waiting.last_error, /Try later/)
    server.refuse = false
    world.clock.advance(5_000)
    await arrived(email)
    assert.deepEqual([...(await database.many(sql`select kind from mails where sent_at is null`))], [])
    world.clock.advance(60_000)
    await world.run('mail.send')
    assert.equal(server.posts.filter(({ to }) => to.includes(email)).length, 1)
  })

  test('when a process dies while it sends an email, another one sends it two minutes later', async () => {
    const { email } = await aPerson(world, database)
    const now = new Date(world.clock.now())
    await inTransaction(asSystem(world.app.deps, { workspaceId: '', projectId: '', requestId: 'test' }), async (tx) => {
      await queueMail(tx, {
        kind: 'held',
        to: email,
        message: { subject: 'Held', lines: ['Held.'] },
        usefulMs: 600_000,
      })
      assert.ok(
        (await leaseDueMails(tx.db, { now, leaseUntil: new Date(now.getTime() + 120_000), limit: 10 })).some(
          ({ kind }) => kind === 'held',
        ),
      )
    })
    world.clock.advance(119_000)
    assert.equal(
      (await leaseDueMails(database, { now: new Date(world.clock.now()), leaseUntil: now, limit: 10 })).length,
      0,
    )
    await arrived(email)
  })

  test('a change that was rolled back sends no email', async () => {
    const { email } = await aPerson(world, database)
    const lost = inTransaction(
      asSystem(world.app.deps, { workspaceId: '', projectId: '', requestId: 'test' }),
      async (tx) => {
        await queueMail(tx, {
          kind: 'test',
          to: email,
          message: { subject: 'Never', lines: ['Never.'] },
          usefulMs: 60_000,
        })
        throw new Error('The change failed.')
      },
    )
    await assert.rejects(lost, /change failed/)
    await arrived(await ask())
    assert.deepEqual(
      server.posts.filter(({ to }) => to.includes(email)),
      [],
    )
  })

  test('an email that is no longer useful is given up, and its text is deleted', async () => {
    server.refuse = true
    const email = await ask()
    world.clock.advance(900_000)
    await world.run('mail.send')
    const row = await database.one<{ sealed: Buffer | null }>(sql`select sealed from mails where failed_at is not null`)
    assert.equal(row.sealed, null)
    server.refuse = false
    assert.deepEqual(
      server.posts.filter(({ to }) => to.includes(email)),
      [],
    )
  })

  test('after an email was sent, only its kind and times are retained', async () => {
    await arrived(await ask())
    assert.deepEqual(
      [...(await database.many(sql`select kind from mails where sent_at is null and failed_at is null`))],
      [],
    )
    assert.equal((await database.one<{ kept: number }>(sql`select count(sealed) as kept from mails`)).kept, 0)
  })
})

test('without a mail server an email is a file in the outbox that only its owner can read', async () => {
  const box = await Mailbox.open()
  const world = await aWorld({ env: { DATA_DIR: box.folder, LOG_LEVEL: 'error' }, loops: [] })
  const database = behind(world)
  try {
    const { email } = await aPerson(world, database)
    await new Browser(world.baseUrl).call('POST session/links', { email })
    assert.equal((await box.next(world)).to, email)
    assert.deepEqual(await box.modes(), ['700', '600'])
    assert.equal((await new Browser(world.baseUrl).call('GET session/methods')).body.mail, 'outbox')
  } finally {
    await database.close()
    await world.stop()
    await box.remove()
  }
})

test('invalid settings for mail and OIDC stop the start with one line', () => {
  assert.throws(() => readConfig({ SMTP_URL: 'smtp://mail.example.com' }), /SMTP_URL is set, so MAIL_FROM must be too/)
  assert.throws(
    () => readConfig({ SMTP_URL: 'http://user:hidden@mail.example.com' }),
    (error: Error) => error.message.startsWith('SMTP_URL must be') && !error.message.includes('hidden'),
  )
  for (const from of ['nobody', 'a@b\r\nBcc: c@d', 'A <a@b> <c@d>'])
    assert.throws(() => readConfig({ MAIL_FROM: from }), /MAIL_FROM must be/)
  assert.throws(
    () => readConfig({ OIDC_ISSUER: 'http://login.example.com', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' }),
    /OIDC_ISSUER must be/,
  )
  assert.throws(
    () => readConfig({ OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'a' }),
    /OIDC_CLIENT_SECRET must be too/,
  )
})
