import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hashCredential } from '../../../server/src/platform/cipher.ts'
import { sql, type Database } from '../../../server/src/platform/db.ts'
import { randomText } from '../../../server/src/platform/ids.ts'
import { insertToken } from '../../../server/src/resources/people/one-time-tokens/queries.ts'
import { aPersonWithPassword, PASSWORD, type Person } from '../../../server/test/stage/accounts.ts'
import { behind } from '../../../server/test/stage/fixtures.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'
import { anInviteOf } from '../stage/small-pages.ts'

/** The small pages beside the console: sign-in, invites, passwords, the account, the reference, and the pages that the server answers with. */
let stage: Stage
let database: Database

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage()
  database = behind(stage.world)
})
after(async () => {
  await database?.close()
  await stage?.stop()
})

test(
  'an account page with an old sign-in offers to sign in again, and afterwards still contains the typed address',
  { skip: noBrowser },
  async () => {
    const { email } = await aPersonWithPassword(stage.world, database)
    const seen = await stage.stranger()
    const { page } = seen
    const signIn = async (): Promise<void> => {
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByText('This session').waitFor()
    }
    await page.goto(`${stage.world.baseUrl}/sign-in?next=/account`)
    await signIn()
    await database.run(sql`update sessions set created_at = created_at - interval '16 minutes'`)
    await page.getByLabel('Address', { exact: true }).fill('typed@example.com')
    await page.getByRole('button', { name: 'Email a confirmation link' }).click()
    await page.getByText('Sign in again, then repeat the change.').waitFor()
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await signIn()
    assert.equal(await page.getByLabel('Address', { exact: true }).inputValue(), 'typed@example.com')
    await page.getByRole('button', { name: 'Email a confirmation link' }).click()
    await page.getByText('Open the link in the mail').waitFor()
    await seen.close()
  },
)

test(
  'the small pages have the theme that was chosen in the console, not that of the system',
  { skip: noBrowser },
  async () => {
    const seen = await stage.stranger('light')
    const { page } = seen
    const canvas = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor')
    await page.goto(`${stage.world.baseUrl}/sign-in`)
    const light = await canvas()
    await page.evaluate("localStorage.setItem('postroad.theme', 'dark')")
    await page.reload()
    assert.notEqual(await canvas(), light)
    await seen.close()
  },
)

test('each block of code of a guide and of the reference can be copied', { skip: noBrowser }, async () => {
  const seen = await stage.stranger()
  const { page } = seen
  for (const [at, block] of [
    ['/docs/verify', '#page pre'],
    ['/docs/api#webhooks.create', '[id="webhooks.create"] pre'],
  ] as const) {
    await page.goto(`${stage.world.baseUrl}${at}`)
    const code = page.locator(block).first()
    await code.hover()
    await code.locator('xpath=..').getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await seen.copied()
    assert.equal(copied, ((await code.textContent()) ?? '').trimEnd())
  }
  await page.goto(`${stage.world.baseUrl}/docs/verify`)
  await page.locator('#page pre').first().focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await seen.close()
})

/** A person with an account and without a workspace, and the token of an invite as an email would contain it. */
async function anInvited(): Promise<{ readonly person: Person; readonly token: string }> {
  const { world } = stage
  const person = await aPersonWithPassword(world, database)
  await database.run(sql`delete from members where user_id = ${person.userId}`)
  return { person, token: await anInviteOf(world, person.email) }
}

test(
  'an invited person opens the link, signs in, accepts, and is in the console of that workspace',
  { skip: noBrowser },
  async () => {
    const { person, token } = await anInvited()
    const seen = await stage.stranger('dark')
    const { page } = seen
    await page.goto(`${stage.world.baseUrl}/invites/accept#t=${token}`)
    await page.getByRole('button', { name: 'Accept the invite' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'You are invited' }).waitFor()
    await page.getByRole('button', { name: 'Accept the invite' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    const { slug } = stage.world.installed.workspace
    assert.ok(new URL(page.url()).pathname.startsWith(`/${slug}/`), page.url())
    assert.equal(
      (await database.one<{ role: string }>(sql`select role from members where user_id = ${person.userId}`)).role,
      'developer',
    )
    await seen.close()
  },
)

test(
  'the emailed link sets a new password; the page refuses a weak one with a reason, and the link still works',
  { skip: noBrowser },
  async () => {
    const { person } = await anInvited()
    const token = randomText(43)
    await insertToken(database, {
      hash: hashCredential(token),
      purpose: 'reset_password',
      userId: person.userId,
      workspaceId: null,
      email: null,
      expiresAt: new Date(stage.world.clock.now() + 600_000),
    })
    const seen = await stage.stranger()
    const { page } = seen
    await page.goto(`${stage.world.baseUrl}/sign-in/reset#t=${token}`)
    const set = async (password: string): Promise<void> => {
      await page.getByLabel('New password').fill(password)
      await page.getByRole('button', { name: 'Set it and sign in' }).click()
    }
    await set('passwordpassword')
    await page.locator('#said.wrong').waitFor()
    await set('copper meadow whistle nine')
    await page.waitForURL((url) => url.pathname === '/')
    await seen.close()
  },
)
