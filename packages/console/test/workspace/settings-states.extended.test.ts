import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { aRule } from '../../../server/test/stage/fixtures.ts'
import { ask } from '../../../server/test/stage/people.ts'
import { noBrowser } from '../stage/browser.ts'
import { testStates } from '../stage/list-states.ts'
import { grid } from '../stage/place.ts'
import { OPERATOR_AREAS, SETTINGS_SCREENS } from '../stage/settings-screens.ts'
import { onSettings, suspend, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings(async (settings) => {
  made = settings
  const rule = await aRule(made.stage.world, { name: 'Large orders' })
  await made.stage.world.admin('DELETE', `rules/${rule.id}`)
})

const answer = async (line: string) => (await ask(made.stage.world, line, { headers: made.headers })).body

testStates(() => made.stage, [...SETTINGS_SCREENS, ...OPERATOR_AREAS])

const SUSPENDED = 'This workspace is suspended, so this cannot be changed.'

/** The control is dimmed, and its title or a line of the page names the reason. */
async function assertDimmed(page: Page, control: Locator): Promise<void> {
  await control.waitFor()
  assert.equal(await control.isDisabled(), true)
  const title = await control.getAttribute('title')
  if (title === null) await page.getByText(SUSPENDED).first().waitFor()
  else assert.equal(title, SUSPENDED)
}

test(
  'in a suspended workspace every screen of the settings is readable, and its dimmed controls give the reason',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    await suspend(made, 'The invoice of May is unpaid')
    try {
      const seen = await stage.owner()
      const { page } = seen
      await page.goto(stage.url('workspace'))
      const list = page.getByRole('navigation', { name: 'Settings' })
      for (const { title, open, shows, changes } of SETTINGS_SCREENS) {
        await list.getByRole('link', { name: title, exact: true }).click()
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await open?.(page)
        await shows(page)
        for (const control of changes?.(page) ?? []) await assertDimmed(page, control)
        // The plan of a file counts as an edit, and the page asks before it discards one.
        if (open !== undefined) await page.getByRole('button', { name: 'Another file' }).click()
      }
      // An owner may export the data, and start elsewhere.
      for (const [title, button] of [
        ['Data export', 'Export everything'],
        ['General', 'New workspace'],
      ] as const) {
        await list.getByRole('link', { name: title, exact: true }).click()
        const control = page.getByRole('button', { name: button }).first()
        await control.waitFor()
        assert.equal(await control.isEnabled(), true, button)
      }
      await list.getByRole('link', { name: 'Projects', exact: true }).click()
      await page.getByRole('row').nth(1).click()
      await assertDimmed(page, page.getByRole('button', { name: 'Delete…' }))
      await list.getByRole('link', { name: 'Members', exact: true }).click()
      await page.getByRole('row').nth(1).click()
      await assertDimmed(page, page.getByRole('radio', { name: /^developer/ }))
      await list.getByRole('link', { name: 'API keys', exact: true }).click()
      await page.getByRole('row').nth(1).click()
      assert.equal(await page.getByRole('button', { name: 'Revoke' }).isEnabled(), true)
      await seen.close()
    } finally {
      await suspend(made)
    }
  },
)

const TABS_MAX = 100

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, to: Locator): Promise<void> {
  await to.waitFor()
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    if ((await to.and(page.locator(':focus')).count()) === 1) return
    await page.keyboard.press('Tab')
  }
  assert.fail('Tab does not reach it')
}

test('a person creates an API key for 90 days with the keyboard alone', { skip: noBrowser }, async () => {
  const { stage } = made
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('api-keys'))
  await grid(page, 'API keys')
  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor()
  await page.keyboard.type('Nightly job')
  const expiry = dialog.getByRole('group', { name: 'Expires after' })
  await tabTo(page, expiry.getByRole('radio', { checked: true }))
  await page.keyboard.press('ArrowRight')
  await expiry.getByRole('radio', { name: '1 year', checked: true }).waitFor()
  await page.keyboard.press('ArrowLeft')
  await expiry.getByRole('radio', { name: '90 days', checked: true }).and(page.locator(':focus')).waitFor()
  await tabTo(page, dialog.getByRole('button', { name: 'Create', exact: true }))
  await page.keyboard.press('Enter')
  const secret = page.getByRole('group', { name: 'API key', exact: true })
  await tabTo(page, secret.getByRole('button', { name: 'Copy' }))
  await page.keyboard.press('Enter')
  await secret.getByRole('button', { name: 'Copied' }).waitFor()
  assert.match(await seen.copied(), /^hk_/)
  await tabTo(page, dialog.getByRole('button', { name: 'Done' }))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Nightly job', level: 2 }).waitFor()
  const { api_keys } = await answer('GET api-keys')
  const stored = api_keys.find(({ name }: { readonly name: string }) => name === 'Nightly job')
  const days = (Date.parse(stored.expires_at) - stage.world.clock.now()) / 86_400_000
  assert.ok(days > 89.5 && days < 90.5, String(days))
  await seen.close()
})

test('a person invites an admin with the keyboard alone', { skip: noBrowser }, async () => {
  const { stage } = made
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('members'))
  await grid(page, 'Members')
  await page.keyboard.press('n')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Email').and(page.locator(':focus')).waitFor()
  await page.keyboard.type('grace@example.com')
  await tabTo(page, dialog.getByRole('radio', { checked: true }))
  await page.keyboard.press('ArrowDown')
  await dialog.getByRole('radio', { name: /^admin/, checked: true }).waitFor()
  await tabTo(page, dialog.getByRole('button', { name: 'Invite', exact: true }))
  await page.keyboard.press('Enter')
  // Without a mail server, the window shows the link.
  await page.getByRole('dialog', { name: /is invited$/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Invite' }).getByText('invited', { exact: true }).waitFor()
  const { invites } = await answer('GET invites')
  assert.deepEqual(
    invites.map(({ email, role }: { readonly email: string; readonly role: string }) => [email, role]),
    [['grace@example.com', 'admin']],
  )
  await seen.close()
})

test(
  'an operator opens the dialog that suspends, leaves it with Escape, and the focus is on the same button again',
  { skip: noBrowser },
  async () => {
    const { stage, workspaceId } = made
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('operator'))
    await grid(page, 'Workspaces')
    await page.keyboard.press('j')
    const begin = page.getByRole('button', { name: 'Suspend…' })
    await tabTo(page, begin)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await begin.and(page.locator(':focus')).waitFor()
    const { workspaces } = await answer('GET platform/workspaces')
    assert.equal(workspaces.find(({ id }: { readonly id: string }) => id === workspaceId).state, 'active')
    await seen.close()
  },
)
