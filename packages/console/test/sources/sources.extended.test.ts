import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { asked, setSuspended } from '../../../server/test/stage/source-stage.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let api: Sink

onStage((made) => {
  stage = made.stage
  api = made.sink
  api.answer({ status: 200, body: '{"data":[{"id":"ord_1","total":42.5}]}' })
})

test(
  'a person tests an HTTP poll before saving it; its items become events, and a failure shows the reason and the next attempt',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('sources'))
    await page.getByRole('heading', { name: 'No sources yet' }).waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^HTTP poll/ }).waitFor()
    await dialog.getByRole('button', { name: /^HTTP poll/ }).click()
    await dialog.getByLabel('URL', { exact: true }).fill(`${api.url}items`)
    await dialog.getByLabel('Headers').fill('Authorization: Bearer secret-token')
    await dialog.getByLabel('Items path').fill('data')
    await dialog.getByRole('button', { name: 'Test', exact: true }).click()
    await dialog.getByText('The test succeeded: 1 item').waitFor()
    await dialog.getByLabel('Items', { exact: true }).getByText('42.5').waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('Orders of the shop')
    await dialog.getByLabel('Store events in').fill('shop_orders')
    await seen.picture('source-new')
    await dialog.locator('footer').getByRole('button', { name: 'Copy as' }).click()
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
    const copied = await seen.copied()
    assert.match(copied, /"Authorization":"YOUR_VALUE"/)
    assert.doesNotMatch(copied, /secret-token/)
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()

    const panel = page.getByRole('region', { name: 'Source', exact: true })
    await panel.getByRole('heading', { name: 'Orders of the shop' }).waitFor()
    const [{ id }] = (await asked(world, 'GET sources')).sources
    await eventually('the poll stores an event', async () => {
      world.clock.advance(1_000)
      return (await asked(world, `GET sources/${id}`)).source.events > 0 ? true : undefined
    })
    await panel.getByRole('definition').filter({ hasText: /^1$/ }).first().waitFor()
    await seen.picture('source')
    api.answer({ status: 500, body: 'no' })
    await eventually('a poll fails', async () => {
      world.clock.advance(10_000)
      return (await asked(world, `GET sources/${id}`)).source.state === 'failing' ? true : undefined
    })
    await panel.getByRole('alert').getByText('500').waitFor()
    await panel.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('Turned off. The source stops and retains its position.').waitFor()
    await panel.getByText('off', { exact: true }).waitFor()
    await panel.getByRole('tab', { name: 'Settings' }).click()
    assert.equal(await panel.getByLabel('Headers').inputValue(), 'Authorization: ••••••••')
    await seen.close()
  },
)

test(
  'a schedule shows its next five runs in its zone while a person writes it, and runs now on demand',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('sources?new=1'))
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^Schedule/ }).click()
    await dialog.getByLabel('Time zone').fill('America/New_York')
    await dialog.getByLabel('Expression').fill('0 9 * * 1')
    const runs = dialog.getByRole('list', { name: 'Next runs' }).getByRole('listitem')
    await runs
      .filter({ hasText: /^Mon.*09:00/ })
      .nth(4)
      .waitFor()
    assert.equal(await runs.count(), 5)
    await dialog.getByLabel('Expression').fill('61 9 * * 1')
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Expression').fill('0 9 * * 1')
    await runs.first().waitFor()
    // The runs of the previous zone are still there while the next one is half typed.
    await dialog.getByLabel('Time zone').fill('America/New_Y')
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Time zone').fill('America/New_York')
    await runs.first().waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('Mondays')
    await dialog.getByLabel('Store events in').fill('mondays')
    await seen.picture('cron-new')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    const panel = page.getByRole('region', { name: 'Source', exact: true })
    await panel.getByRole('list', { name: 'Next runs' }).getByRole('listitem').nth(4).waitFor()
    await panel.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('Postroad stores one event soon.', { exact: false }).waitFor()
    const [{ id }] = (await asked(stage.world, 'GET cron-triggers')).cron_triggers
    await eventually('the schedule runs', async () => {
      stage.world.clock.advance(1_000)
      return (await asked(stage.world, `GET cron-triggers/${id}`)).cron_trigger.runs === 1 ? true : undefined
    })
    await panel.getByRole('definition').filter({ hasText: /^1$/ }).waitFor()
    await seen.picture('cron')
    await page.goto(stage.url('events'))
    await page.getByRole('row').filter({ hasText: 'mondays' }).click()
    const path = page.getByRole('group', { name: 'Path of this event' })
    await path.getByText('Made').waitFor()
    assert.doesNotMatch((await path.textContent()) ?? '', /ingest key|signature/)
    await seen.picture('cron-event')
    await path.getByRole('link', { name: 'cron trigger' }).click()
    await panel.getByRole('heading', { name: 'Mondays' }).waitFor()
    await seen.close()
  },
)

test('a WebSocket that cannot be reached shows its failures and the next attempt', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('sources?new=1'))
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /^WebSocket/ }).click()
  await dialog.getByLabel('URL', { exact: true }).fill('ws://127.0.0.1:9/prices')
  await dialog.getByLabel('Name', { exact: true }).fill('Prices')
  await dialog.getByLabel('Store events in').fill('prices')
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  const panel = page.getByRole('region', { name: 'Source', exact: true })
  await panel.getByRole('heading', { name: 'Prices' }).waitFor()
  const [{ id }] = (await asked(stage.world, 'GET ws-triggers')).ws_triggers
  await eventually('a connection fails', async () => {
    stage.world.clock.advance(1_000)
    return (await asked(stage.world, `GET ws-triggers/${id}`)).ws_trigger.failures > 0 ? true : undefined
  })
  await panel.getByRole('alert').getByText('in a row', { exact: false }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('group', { name: 'Views' }).getByRole('button', { name: 'With problems' }).click()
  await page.getByRole('row').filter({ hasText: 'Prices' }).waitFor()
  await seen.picture('sources')
  await seen.close()
})

test('in a suspended workspace a source is readable, and its dimmed button says why', { skip: noBrowser }, async () => {
  const { world } = stage
  const { cron_trigger } = await asked(world, 'POST cron-triggers', {
    name: 'Paused with the workspace',
    expression: '0 0 * * *',
    dataset: 'nights',
  })
  await setSuspended(world, true)
  try {
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url(`sources?sel=${cron_trigger.id}`))
    await page.getByText('This workspace is suspended', { exact: false }).first().waitFor()
    const off = page.getByRole('button', { name: 'Turn off' })
    await off.waitFor()
    assert.equal(await off.isDisabled(), true)
    assert.equal(await off.getAttribute('title'), 'This workspace is suspended, so this cannot be changed.')
    await seen.close()
  } finally {
    await setSuspended(world, false)
  }
})
