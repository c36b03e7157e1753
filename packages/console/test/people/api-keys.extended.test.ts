import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { ask } from '../../../server/test/stage/people.ts'
import { noBrowser } from '../stage/browser.ts'
import { onSettings, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings((settings) => {
  made = settings
})

const keyed = async (key: string): Promise<number> =>
  (await ask(made.stage.world, 'GET projects', { headers: { authorization: `Bearer ${key}` } })).status

/** The choices of a group, with the chosen one. */
async function choicesOf(page: Page, name: string): Promise<readonly string[]> {
  const radios = await page.getByRole('group', { name, exact: true }).getByRole('radio').all()
  return Promise.all(
    radios.map(async (radio) => `${await radio.getAttribute('value')}${(await radio.isChecked()) ? ' chosen' : ''}`),
  )
}

test(
  'a person creates a key for 90 days and their address, sees it once, uses it, and revokes it',
  { skip: noBrowser },
  async () => {
    const { stage, headers } = made
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('api-keys'))
    await page.getByRole('grid', { name: 'API keys' }).getByRole('row').nth(1).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Name', { exact: true }).fill('Shop CI')
    assert.deepEqual(await choicesOf(page, 'Expires after'), ['7', '30', '90 chosen', '365', 'never'])
    await page.getByText('Your address is 127.0.0.1').waitFor()
    await page.getByRole('button', { name: 'Add my address' }).click()
    assert.equal(await page.getByLabel('Allowed addresses').inputValue(), '127.0.0.1')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    const key = await page.getByRole('group', { name: 'API key' }).locator('code').innerText()
    assert.match(key, /^hk_/)
    assert.equal(await keyed(key), 200)

    // The dialog asks once if the person has no copy.
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('alert').getByText('It cannot be shown again').waitFor()
    await page.getByRole('group', { name: 'API key' }).getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Shop CI', level: 2 }).waitFor()
    assert.ok(!(await page.content()).includes(key), 'the key is on no screen')
    const stored = (await ask(stage.world, 'GET api-keys', { headers })).body.api_keys.find(
      (one: { name: string }) => one.name === 'Shop CI',
    )
    assert.deepEqual([stored.role, stored.ip_allowlist, stored.project_id], ['developer', ['127.0.0.1'], null])
    const days = (Date.parse(stored.expires_at) - stage.world.clock.now()) / 86_400_000
    assert.ok(days > 89.5 && days < 90.5, String(days))

    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('revoked', { exact: true }).first().waitFor()
    assert.equal(await keyed(key), 401)
    await seen.close()
  },
)

test(
  'a developer cannot give a role above their own, and the menu copies the list as curl and as a command',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const seen = await stage.member('developer', 'dark')
    const { page } = seen
    await page.goto(`${stage.url('api-keys')}?new=1`)
    await page.getByLabel('Name', { exact: true }).waitFor()
    assert.deepEqual(await choicesOf(page, 'Role'), ['viewer', 'developer chosen'])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
    const curl = await seen.copied()
    assert.ok(curl.includes(`${stage.world.baseUrl}/admin/api/api-keys`), curl)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Copy as a CLI command' }).click()
    assert.equal(await seen.copied(), 'npx postroad api-keys list')
    await seen.close()
  },
)
