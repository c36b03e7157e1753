import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BUILDING_PAGE } from '../../../server/src/surfaces/console/building.ts'
import { noBrowser, type Seen, type Stage } from './browser.ts'

/** A page beside the console: its address, and the heading that proves that it is open. */
export type SmallPage = {
  readonly name: string
  readonly path: string
  readonly heading: string
  readonly as?: 'owner'
  readonly open?: (seen: Seen) => Promise<void>
}

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
  { name: 'a mailed link', path: `/sign-in/link#t=${'x'.repeat(43)}`, heading: 'Sign in' },
  {
    name: 'half of a mailed link',
    path: '/sign-in/link',
    heading: 'This link is incomplete',
    open: ({ page }) => page.getByText('Copy the whole link').waitFor(),
  },
  { name: 'a new password', path: `/sign-in/reset#t=${'x'.repeat(43)}`, heading: 'Set a new password' },
  { name: 'an address to confirm', path: `/sign-in/email#t=${'x'.repeat(43)}`, heading: 'Confirm your email address' },
  { name: 'an invite', path: `/invites/accept#t=${'x'.repeat(43)}`, heading: 'You are invited' },
  {
    name: 'half of an invite',
    path: '/invites/accept',
    heading: 'This link is incomplete',
    open: ({ page }) => page.getByText('Copy the whole link').waitFor(),
  },
  {
    name: 'a claim of an account',
    path: `/account/claim#t=hct_${'x'.repeat(43)}`,
    heading: 'Claim an agent’s workspace',
  },
  {
    name: 'half of a claim',
    path: '/account/claim',
    heading: 'This link is incomplete',
    open: ({ page }) => page.getByText('Copy the whole link').waitFor(),
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
  await seen.page.goto(stage.world.baseUrl + path)
  await seen.page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  await open?.(seen)
  return seen
}

/** Every small page, in both themes. */
export function testSmallPages(stageOf: () => Stage): void {
  describe(
    'the small pages are accessible to everyone in both themes, and the policy refuses nothing',
    { skip: noBrowser },
    () => {
      for (const small of SMALL_PAGES) {
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
