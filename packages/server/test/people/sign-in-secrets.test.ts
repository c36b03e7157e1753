import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { sql } from '../../src/platform/db.ts'
import type { Log } from '../../src/platform/log.ts'
import { anOwner, aPersonWithPassword, PASSWORD } from '../stage/accounts.ts'
import { Authenticator } from '../stage/authenticator.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { anIdentityProvider, CLIENT_SECRET, settingsFor } from '../stage/identity-provider.ts'
import { linkIn, Mailbox } from '../stage/mailbox.ts'

const ORIGIN = 'http://localhost:4680'
const NEW_PASSWORD = 'copper meadow whistle nine'
const WRONG_PASSWORD = 'what somebody typed by mistake'
const SMTP_PASSWORD = 'password-of-the-mail-server'

/** Every secret that this file has created or typed, by name. */
const secrets = new Map<string, string>()
const seen: { readonly where: string; readonly text: string }[] = []

const note = (event: string, fields: Readonly<Record<string, unknown>> = {}): void => {
  seen.push({
    where: `log ${event}`,
    text: `${inspect(fields, { depth: 20, maxStringLength: null })} ${JSON.stringify(fields)}`,
  })
}
const log: Log = { debug: note, info: note, warn: note, error: note }

async function ask(browser: Browser, line: string, body?: unknown) {
  const answer = await browser.call(line, body)
  if (answer.status >= 400) seen.push({ where: `${line}: ${answer.status}`, text: answer.text })
  for (const [name, value] of browser.cookies) secrets.set(`cookie ${name} ${value.slice(-8)}`, value)
  return answer
}

/** Signs in and changes settings in every possible way, with valid and invalid requests. */
async function everything(world: World, box: Mailbox): Promise<void> {
  const database = behind(world)
  const { email } = await aPersonWithPassword(world, database)
  await database.close()
  const fresh = (): Browser => new Browser(world.address)
  const mailed = async (name: string): Promise<string> => {
    const { token } = linkIn(await box.next(world))
    secrets.set(name, token)
    return token
  }
  await anOwner(world, fresh())
  const own = fresh()
  await ask(own, 'POST session', { email, password: WRONG_PASSWORD })
  await ask(own, 'POST session', { email, password: PASSWORD })
  await ask(own, 'PUT account/password', { current_password: WRONG_PASSWORD, new_password: NEW_PASSWORD })
  await ask(own, 'PUT account/password', { current_password: PASSWORD, new_password: 'Password2026!' })
  await ask(own, 'PUT account/password', { current_password: PASSWORD, new_password: NEW_PASSWORD })
  await box.next(world)
  await ask(fresh(), 'POST session/links', { email })
  const link = await mailed('link')
  for (let times = 0; times < 2; times += 1) await ask(fresh(), 'POST session', { token: link })
  await ask(own, 'POST account/email', { email: 'moved@example.com' })
  const confirming = await mailed('confirmation')
  await ask(fresh(), 'PUT account/email', { token: confirming })
  await ask(own, 'PUT account/email', { token: confirming })
  await box.next(world)
  await ask(fresh(), 'POST account/password-reset', { email: 'moved@example.com' })
  const reset = await mailed('reset')
  for (const new_password of ['short', PASSWORD, PASSWORD])
    await ask(own, 'PUT account/password-reset', { token: reset, new_password })
  await box.next(world)
  await withPasskey(own, fresh)
  await ask(fresh(), 'POST session', { token: link, email, password: WRONG_PASSWORD })
  await ask(fresh(), 'POST session/links', { email: 'nobody@example.com' })
  await ask(own, 'DELETE account/sessions')
}

async function withPasskey(own: Browser, fresh: () => Browser): Promise<void> {
  const made = new Authenticator()
  const { options } = (await ask(own, 'POST account/passkeys/options', {})).body
  secrets.set('challenge of registering', options.challenge)
  await ask(own, 'POST account/passkeys', { name: 'Laptop', passkey: made.create(options, ORIGIN) })
  const offer = (await ask(fresh(), 'POST session/passkey-options', {})).body.options
  secrets.set('challenge of signing in', offer.challenge)
  const passkey = made.get(offer, ORIGIN)
  for (let times = 0; times < 2; times += 1) await ask(fresh(), 'POST session', { passkey })
}

test('no log line, no error and no column of any table contains a password, link, cookie, challenge or setting', async () => {
  const [box, provider] = [await Mailbox.open(), await anIdentityProvider()]
  const world = await aWorld({
    log,
    env: { DATA_DIR: box.folder, PUBLIC_URL: ORIGIN, LOG_LEVEL: 'debug', ...settingsFor(provider) },
    loops: [],
  })
  const nowhere = await aWorld({
    log,
    beside: world,
    env: {
      SMTP_URL: `smtp://user:${SMTP_PASSWORD}@127.0.0.1:9`,
      MAIL_FROM: 'a@b.example',
      OIDC_ISSUER: 'http://127.0.0.1:9',
      OIDC_CLIENT_ID: 'a',
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
    },
  })
  const database = behind(world)
  try {
    await everything(world, box)
    const visitor = new Browser(world.address)
    await ask(visitor, 'GET session/oidc')
    await ask(visitor, 'GET session/oidc/callback?code=a-code-of-the-provider&state=wrong')
    await ask(new Browser(nowhere.address), 'GET session/oidc')
    nowhere.clock.set(world.clock.now())
    await ask(new Browser(nowhere.address), 'POST session/links', { email: 'moved@example.com' })
    await nowhere.run('mail.send')
    assert.ok(seen.some(({ where }) => where === 'log mail.not_sent'))
    for (const value of [...secrets].filter(([name]) => name.startsWith('cookie service_session'))) {
      const opened = await world.app.deps.cookies.open(value[1])
      secrets.set(`secret in ${value[0]}`, (opened ?? '').slice('session:'.length))
    }
    secrets
      .set('password', PASSWORD)
      .set('new password', NEW_PASSWORD)
      .set('wrong password', WRONG_PASSWORD)
      .set('weak password', 'Password2026!')
    secrets
      .set('SMTP password', SMTP_PASSWORD)
      .set('client secret', CLIENT_SECRET)
      .set('code', 'a-code-of-the-provider')
    secrets.set('printed link', new URL(world.installed.sign_in_url).hash.slice(3))
    for (const [name, value] of secrets) assert.ok(value.length >= 12, name)
    assert.ok(secrets.size >= 20 && seen.length >= 15, 'there was something to find')
    const tables = await database.many<{ name: string }>(
      sql`select tablename as name from pg_tables where schemaname = 'public'`,
    )
    for (const { name } of tables) {
      const rows = await database.many<{ row: string }>({
        strings: [`select t::text as row from ${name} t`],
        values: [],
      })
      seen.push({ where: `table ${name}`, text: rows.map(({ row }) => row).join('\n') })
    }
    const found = seen.flatMap(({ where, text }) =>
      [...secrets]
        .filter(([, value]) => text.includes(value) || text.includes(Buffer.from(value).toString('hex')))
        .map(([name]) => `${name} in ${where}`),
    )
    assert.deepEqual([...new Set(found)], [])
  } finally {
    await database.close()
    await nowhere.stop()
    await world.stop()
    await provider.stop()
    await box.remove()
  }
})
