import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashCredential } from '../../../server/src/platform/cipher.ts'
import { sql } from '../../../server/src/platform/db.ts'
import { randomText } from '../../../server/src/platform/ids.ts'
import { BUILDING_PAGE } from '../../../server/src/surfaces/console/building.ts'
import { behind, signedIn } from '../../../server/test/stage/fixtures.ts'
import { inEighth } from '../../../server/test/stage/eighths.ts'
import type { World } from '../../../server/test/stage/harness.ts'
import { aClient, authorizeUrl, sendForm } from '../../../server/test/stage/oauth-stage.ts'
import { ask, theWorkspace } from '../../../server/test/stage/people.ts'
import { noBrowser, type Seen, type Stage } from './browser.ts'

/** A page beside the console: its address, and the heading that proves that it is open. */
export type SmallPage = {
  readonly name: string
  readonly path: string | ((stage: Stage) => Promise<string>)
  readonly heading: string
  readonly as?: 'owner'
  readonly open?: (seen: Seen, stage: Stage) => Promise<void>
}

const TOKEN = 'x'.repeat(43)

export const SMALL_PAGES: readonly SmallPage[] = [
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
  { name: 'a mailed link', path: `/sign-in/link#t=${TOKEN}`, heading: 'Sign in' },
  {
    name: 'half of a mailed link',
    path: '/sign-in/link',
    heading: 'This link is incomplete',
    open: ({ page }) => page.getByText('Copy the whole link').waitFor(),
  },
  { name: 'a new password', path: `/sign-in/reset#t=${TOKEN}`, heading: 'Set a new password' },
  { name: 'an address to confirm', path: `/sign-in/email#t=${TOKEN}`, heading: 'Confirm your email address' },
  { name: 'an invite', path: `/invites/accept#t=${TOKEN}`, heading: 'You are invited' },
  {
    name: 'half of an invite',
    path: '/invites/accept',
    heading: 'This link is incomplete',
    open: ({ page }) => page.getByText('Copy the whole link').waitFor(),
  },
  {
    name: 'a claim of an account',
    path: `/account/claim#t=hct_${TOKEN}`,
    heading: 'Claim an agent’s workspace',
  },
  {
    name: 'half of a claim',
    path: '/account/claim',
    heading: 'This link is incomplete',
    open: ({ page }) => page.getByText('Copy the whole link').waitFor(),
  },
  {
    name: 'a claim that cannot be used',
    path: `/account/claim#t=hct_${TOKEN}`,
    heading: 'Claim an agent’s workspace',
    as: 'owner',
    open: async ({ page }) => {
      await page.getByRole('button', { name: 'Claim the workspace' }).click()
      await page.locator('#said.wrong').waitFor()
    },
  },
  {
    name: 'a real invite',
    path: async ({ world }) => `/invites/accept#t=${await anInviteOf(world)}`,
    heading: 'You are invited',
    as: 'owner',
    open: ({ page }) => page.getByRole('button', { name: 'Accept the invite' }).waitFor(),
  },
  {
    name: 'a weak password',
    path: `/sign-in/reset#t=${TOKEN}`,
    heading: 'Set a new password',
    open: async ({ page }) => {
      await page.getByLabel('New password').fill('passwordpassword')
      await page.getByRole('button', { name: 'Set it and sign in' }).click()
      await page.locator('#said.wrong').waitFor()
    },
  },
  {
    name: 'the consent to a program',
    path: async ({ world }) =>
      authorizeUrl(world, {
        client: await aClient(world, { client_name: 'Claude Code' }),
        members: { scope: 'service:write' },
      }),
    heading: 'Connect Claude Code?',
    as: 'owner',
  },
  {
    name: 'the code of a device',
    path: aDevice,
    heading: 'Connect a device',
    as: 'owner',
  },
  {
    name: 'the consent to a device',
    path: aDevice,
    heading: 'Connect a device',
    as: 'owner',
    open: async ({ page }) => {
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('ada-laptop').waitFor()
    },
  },
  {
    name: 'an account whose sign-in is old',
    path: '/account',
    heading: 'Account',
    as: 'owner',
    open: async ({ page }, { world }) => {
      await page.getByText('This session').waitFor()
      const database = behind(world)
      await database.run(sql`update sessions set created_at = created_at - interval '16 minutes'`)
      await database.close()
      await page.getByLabel('Address', { exact: true }).fill('typed@example.com')
      await page.getByRole('button', { name: 'Email a confirmation link' }).click()
      await page.getByText('Sign in again, then repeat the change.').waitFor()
    },
  },
  {
    name: 'the account',
    path: '/account',
    heading: 'Account',
    as: 'owner',
    open: ({ page }) => page.getByText('This session').waitFor(),
  },
  { name: 'a guide', path: '/docs', heading: 'Start' },
  { name: 'the guide on errors', path: '/docs/errors', heading: 'Errors and remedies' },
  {
    name: 'a guide with a button that copies',
    path: '/docs/verify',
    heading: 'Verify senders',
    open: async ({ page }) => {
      await page.locator('#page pre').first().focus()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Copied' }).waitFor()
    },
  },
  { name: 'the reference', path: '/docs/api', heading: 'API' },
  {
    name: 'a search of the documentation',
    path: '/docs',
    heading: 'Start',
    open: async ({ page }) => {
      await page.getByLabel('Search').fill('retry-after')
      await page.getByRole('heading', { name: /\d+ results/ }).waitFor()
    },
  },
  { name: 'a refusal of the server', path: '/admin/api/session/oidc', heading: 'Not signed in' },
  { name: 'a console that is being built', path: '/building', heading: 'The console is being built' },
]

export async function openSmallPage(stage: Stage, { path, heading, as, open }: SmallPage): Promise<Seen> {
  const seen = as === 'owner' ? await stage.owner() : await stage.stranger()
  // The server does not show this page, because the console is built already.
  await seen.page.route('**/building', (route) =>
    route.fulfill({
      contentType: 'text/html; charset=utf-8',
      body: BUILDING_PAGE.replace(/<meta http-equiv="refresh"[^>]*>/, ''),
    }),
  )
  await seen.page.goto(stage.world.baseUrl + (typeof path === 'string' ? path : await path(stage)))
  await seen.page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  await open?.(seen, stage)
  return seen
}

/** The address on which a person confirms the code of a device. */
async function aDevice({ world }: Stage): Promise<string> {
  const { body } = await sendForm(world, 'device_authorization', {
    client_id: 'postroad-cli',
    scope: 'service:write',
    device_name: 'ada-laptop',
  })
  const { pathname, search } = new URL(body.verification_uri_complete)
  return pathname + search
}

/** The token of an open invite, as an email contains it. */
export async function anInviteOf(world: World, email = 'invited@example.com'): Promise<string> {
  const database = behind(world)
  try {
    const headers = await signedIn(world, await theWorkspace(database))
    const { status } = await ask(world, 'POST invites', { headers, body: { email, role: 'developer' } })
    assert.equal(status, 201)
    const token = randomText(43)
    await database.run(sql`update invites set token_hash = ${hashCredential(token)} where email = ${email}`)
    return token
  } finally {
    await database.close()
  }
}

/** Every small page, in both themes. */
export function testSmallPages(stageOf: () => Stage): void {
  describe(
    'the small pages are accessible to everyone in both themes, and the policy refuses nothing',
    { skip: noBrowser },
    () => {
      for (const small of inEighth(SMALL_PAGES)) {
        test(small.name, async () => {
          const seen = await openSmallPage(stageOf(), small)
          assert.ok(!seen.page.url().includes('#t='), 'a token stays in no history')
          await seen.accessibleInBothThemes(small.name)
          await seen.close()
        })
      }
    },
  )
}
