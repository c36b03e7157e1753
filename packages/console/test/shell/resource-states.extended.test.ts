import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, anIngestKey, aRule, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'
import { testStates } from '../stage/list-states.ts'
import { RESOURCE_SCREENS } from '../stage/resource-screens.ts'

let stage: Stage
let sink: Sink

onStage(async (made) => {
  ;({ stage, sink } = made)
  await aDestination(stage.world, { url: sink.url })
  await aRule(stage.world)
  await anIngestKey(stage.world)
  await post(stage.world.endpoint, '{"total":42}')
})

testStates(() => stage, RESOURCE_SCREENS)

test(
  'a person saves a filter as a named view, finds it in the palette, and removes it; only its screen has it',
  { skip: noBrowser },
  async () => {
    await aRule(stage.world, { name: 'Refunds of May', dataset: 'refunds' })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('rules?view=on'))
    await page.getByRole('grid', { name: 'Rules' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('refunds')
    await page.keyboard.press('Escape')
    await page.keyboard.press('s')
    await page.getByLabel('Name', { exact: true }).fill('Money back')
    await page.keyboard.press('Enter')
    const views = page.getByRole('group', { name: 'Views' })
    assert.equal(await views.getByRole('button', { name: 'Money back' }).getAttribute('aria-pressed'), 'true')
    await views.getByRole('button', { name: 'All' }).click()
    await page.waitForURL((url) => url.search === '')

    await page.goto(stage.url('destinations'))
    await page.getByRole('grid', { name: 'Destinations' }).waitFor()
    assert.equal(await views.getByRole('button', { name: 'Money back' }).count(), 0)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run' }).fill('money view of rules')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/rules?*')
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { q: 'refunds', view: 'on' })
    await page.getByRole('row').filter({ hasText: 'Refunds of May' }).waitFor()
    await page.getByRole('button', { name: 'Remove the view Money back' }).click()
    await views.getByRole('button', { name: 'Money back' }).waitFor({ state: 'detached' })
    await seen.close()
  },
)

test('the palette leads to every screen, and to everything that has a name', { skip: noBrowser }, async () => {
  const rule = await aRule(stage.world, { name: 'Quarterly totals' })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('overview'))
  const items = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
  await items.first().waitFor()
  const names = (await items.allInnerTexts()).map((name) => name.trim())
  for (const name of names) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run' }).fill(name)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Search or run' }).waitFor({ state: 'detached' })
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or run' }).fill('quarterly rule')
  await page.getByRole('option', { name: 'Quarterly totals' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/rules?sel=${rule.id}`)
  await page.getByRole('heading', { name: 'Quarterly totals', level: 2 }).waitFor()
  await seen.close()
})
