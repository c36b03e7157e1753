import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aRule, aWebhook } from '../../../server/test/stage/fixtures.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage

onStage((made) => {
  ;({ stage } = made)
})

const statusOf = async (path: string): Promise<number> => (await stage.world.admin('GET', path)).status

test('the message after a deletion undoes it', { skip: noBrowser }, async () => {
  const rule = await aRule(stage.world, { name: 'Large orders' })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(`${stage.url('rules')}?sel=${rule.id}`)
  await page.getByRole('button', { name: 'More' }).last().click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Large orders?' })
  await dialog.getByText('You can restore it for 24 hours.').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  const message = page.getByRole('status').filter({ hasText: 'Large orders is deleted.' })
  await message.waitFor()
  assert.equal(await statusOf(`rules/${rule.id}`), 404)
  await message.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Large orders is restored.').waitFor()
  await page.getByRole('row').filter({ hasText: 'Large orders' }).waitFor()
  assert.equal(await statusOf(`rules/${rule.id}`), 200)
  await seen.close()
})

test('the list of deletions says who deleted each, and restores it', { skip: noBrowser }, async () => {
  const webhook = await aWebhook(stage.world, { name: 'Orders of the shop' })
  const { destination } = await aDestination(stage.world, { name: 'Warehouse', url: 'https://example.com/hook' })
  for (const path of [`webhooks/${webhook.id}`, `destinations/${destination.id}`])
    await stage.world.admin('DELETE', path)
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('overview'))
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Deleted' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Orders of the shop' })
  await row.getByText('an API key').waitFor()
  await row.getByText('in 24 h').waitFor()
  await row.getByRole('button', { name: 'Restore Orders of the shop' }).click()
  await row.waitFor({ state: 'detached' })
  assert.equal(await statusOf(`webhooks/${webhook.id}`), 200)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('heading', { name: 'Orders of the shop', level: 2 }).waitFor()
  await page.goto(stage.url('deleted'))
  await page.getByRole('row').filter({ hasText: 'Warehouse' }).waitFor()
  await seen.close()
})

test('a deletion whose name is taken stays in the list, with a message why', { skip: noBrowser }, async () => {
  const rule = await aRule(stage.world, { name: 'Refunds' })
  await stage.world.admin('DELETE', `rules/${rule.id}`)
  await aRule(stage.world, { name: 'Refunds' })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('deleted'))
  await page.getByRole('button', { name: 'Restore Refunds' }).click()
  await page.getByText('Another rule now has this name.').waitFor()
  await page.getByRole('row').filter({ hasText: 'Refunds' }).waitFor()
  await seen.close()
})

test('a viewer sees the list and cannot restore', { skip: noBrowser }, async () => {
  const rule = await aRule(stage.world, { name: 'Read only' })
  await stage.world.admin('DELETE', `rules/${rule.id}`)
  const seen = await stage.member('viewer')
  const { page } = seen
  await page.goto(stage.url('deleted'))
  assert.equal(await page.getByRole('button', { name: 'Restore Read only' }).isDisabled(), true)
  await seen.close()
})
