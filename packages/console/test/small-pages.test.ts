import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { hashCredential } from '../../server/src/platform/cipher.ts'
import { sql, type Database } from '../../server/src/platform/db.ts'
import { randomText } from '../../server/src/platform/ids.ts'
import { insertToken } from '../../server/src/resources/one-time-tokens/queries.ts'
import { BUILDING_PAGE } from '../../server/src/surfaces/console/building.ts'
import { aPersonWithPassword, PASSWORD, type Person } from '../../server/test/accounts.ts'
import { behind, signedIn } from '../../server/test/fixtures.ts'
import { ask, theWorkspace } from '../../server/test/people.ts'
import { aStage, noBrowser, type Seen, type Stage, type Theme } from './browser.ts'

/** The small pages beside the console: signing in, invites, passwords, one's account, the reference, and what the server says by itself. */
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

type Place = { readonly name: string; readonly path: string; readonly heading: string; readonly as?: 'owner'; readonly open?: (seen: Seen) => Promise<void> }

const PLACES: readonly Place[] = [
  { name: 'sign-in', path: '/sign-in', heading: 'Sign in' },
  {
    name: 'sign-in that was refused',
    path: '/sign-in',
    heading: 'Sign in',
    open: async ({ page }) => {
      await page.getByLabel('Email').fill('nobody@example.com')
      await page.getByLabel('Password').fill('something wrong')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.locator('#said.wrong').waitFor()
    },
  },
  { name: 'a mailed link', path: `/sign-in/link#t=${'x'.repeat(43)}`, heading: 'Sign in' },
  { name: 'half of a mailed link', path: '/sign-in/link', heading: 'Sign in', open: ({ page }) => page.getByText('This address is not a whole link').waitFor() },
  { name: 'a new password', path: `/sign-in/reset#t=${'x'.repeat(43)}`, heading: 'Set a new password' },
  { name: 'an address to confirm', path: `/sign-in/email#t=${'x'.repeat(43)}`, heading: 'Confirm your email address' },
  { name: 'an invite', path: `/invites/accept#t=${'x'.repeat(43)}`, heading: 'You are invited' },
  { name: 'half of an invite', path: '/invites/accept', heading: 'You are invited', open: ({ page }) => page.getByText('This address is not a whole link').waitFor() },
  { name: 'the account', path: '/account', heading: 'Account', as: 'owner', open: ({ page }) => page.getByText('This session').waitFor() },
  { name: 'the reference', path: '/docs', heading: 'API' },
  { name: 'a refusal of the server', path: '/admin/api/session/oidc', heading: 'Not signed in' },
  { name: 'a console that is being built', path: '/building', heading: 'The console is being built' },
]

for (const theme of ['light', 'dark'] as const satisfies readonly Theme[]) {
  describe(`${theme}: nothing stands in the way of anybody on the small pages, and nothing is refused by the policy`, { skip: noBrowser }, () => {
    for (const { name, path, heading, as, open } of PLACES) {
      test(name, async () => {
        const seen = as === 'owner' ? await stage.owner(theme) : await stage.stranger(theme)
        // There is a build here, so the server would not say it.
        await seen.page.route('**/building', (route) => route.fulfill({ contentType: 'text/html; charset=utf-8', body: BUILDING_PAGE.replace(/<meta http-equiv="refresh"[^>]*>/, '') }))
        await seen.page.goto(stage.world.baseUrl + path)
        await seen.page.getByRole('heading', { name: heading, level: 1 }).waitFor()
        await open?.(seen)
        assert.ok(!seen.page.url().includes('#t='), 'a token stays in no history')
        await seen.accessible(name)
        await seen.close()
      })
    }
  })
}

test('the small pages are light or dark as was chosen in the console, whatever the system is', { skip: noBrowser }, async () => {
  const seen = await stage.stranger('light')
  const { page } = seen
  const canvas = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor')
  await page.goto(`${stage.world.baseUrl}/sign-in`)
  const light = await canvas()
  await page.evaluate("localStorage.setItem('postroad.theme', 'dark')")
  await page.reload()
  assert.notEqual(await canvas(), light)
  await seen.accessible('chosen dark on a light system')
  await seen.close()
})

/** Somebody with an account, who is in no workspace yet, and the token of an invite as if it had been mailed. */
async function anInvited(): Promise<{ readonly person: Person; readonly token: string }> {
  const { world } = stage
  const person = await aPersonWithPassword(world, database)
  await database.run(sql`delete from members where user_id = ${person.userId}`)
  const owner = await signedIn(world, await theWorkspace(database))
  assert.equal((await ask(world, 'POST invites', { headers: owner, body: { email: person.email, role: 'developer' } })).status, 201)
  const token = randomText(43)
  await database.run(sql`update invites set token_hash = ${hashCredential(token)} where email = ${person.email}`)
  return { person, token }
}

test('an invited person opens the link, signs in, comes back, accepts, and is in the console of that workspace', { skip: noBrowser }, async () => {
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
  await seen.accessible('a real invite')
  await page.getByRole('button', { name: 'Accept the invite' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  const { slug } = stage.world.installed.workspace
  assert.ok(new URL(page.url()).pathname.startsWith(`/${slug}/`), page.url())
  assert.equal((await database.one<{ role: string }>(sql`select role from members where user_id = ${person.userId}`)).role, 'developer')
  await seen.close()
})

test('a new password is set by the mailed link, a weak one is refused with what it needs, and the link is good still', { skip: noBrowser }, async () => {
  const { person } = await anInvited()
  const token = randomText(43)
  await insertToken(database, { hash: hashCredential(token), purpose: 'reset_password', userId: person.userId, workspaceId: null, email: null, expiresAt: new Date(stage.world.clock.now() + 600_000) })
  const seen = await stage.stranger()
  const { page } = seen
  await page.goto(`${stage.world.baseUrl}/sign-in/reset#t=${token}`)
  const set = async (password: string): Promise<void> => {
    await page.getByLabel('New password').fill(password)
    await page.getByRole('button', { name: 'Set it and sign in' }).click()
  }
  await set('passwordpassword')
  await page.locator('#said.wrong').waitFor()
  await seen.accessible('a weak password')
  await set('copper meadow whistle nine')
  await page.waitForURL((url) => url.pathname === '/')
  await seen.close()
})
