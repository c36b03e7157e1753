import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { anIngestKey, post } from '../../../server/test/stage/fixtures.ts'
import { eventually } from '../../../server/test/stage/harness.ts'
import { anOtlpReceiver, type OtlpReceiver } from '../../../server/test/stage/otlp-receiver.ts'
import { asked } from '../../../server/test/stage/source-stage.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let key: string
let receiver: OtlpReceiver

onStage(async (made) => {
  ;({ stage } = made)
  ;({ key } = await anIngestKey(stage.world))
})
before(async () => {
  receiver = await anOtlpReceiver()
})
after(() => receiver.stop())

async function file(dataset: string, payload: unknown): Promise<void> {
  const answer = await post(`${stage.world.baseUrl}/v1/ingest/${key}/${dataset}`, JSON.stringify(payload))
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
}

test(
  'a dataset shows its learned fields with their presence, the drift of its records, an export, and its retention',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    for (let number = 0; number < 25; number += 1)
      // oxlint-disable-next-line no-await-in-loop -- in this order
      await file('orders', { id: number, total: number / 2, ...(number % 2 === 0 ? { note: 'gift' } : {}) })
    const [{ id }] = (await asked(world, 'GET datasets')).datasets
    const schema = async () => (await asked(world, `GET datasets/${id}/schema`)).schema
    await eventually('the schema has 25 records', async () => {
      world.clock.advance(30_000)
      return (await schema()).records_read >= 25 ? true : undefined
    })
    await file('orders', { id: 'text', total: 1, coupon: 'MAY' })
    await eventually('the schema has two changes', async () => {
      world.clock.advance(30_000)
      return (await schema()).drifts.length >= 2 ? true : undefined
    })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('datasets'))
    await page.getByRole('grid', { name: 'Datasets' }).getByRole('row').nth(1).waitFor()
    await page.getByRole('row').filter({ hasText: 'orders' }).click()
    const panel = page.getByRole('region', { name: 'Dataset', exact: true })
    await panel.getByRole('rowheader', { name: 'note' }).waitFor()
    await panel.getByRole('row').filter({ hasText: 'note' }).getByText('50%').waitFor()
    await seen.picture('dataset')
    await page.keyboard.press('2')
    const changes = panel.getByRole('list', { name: 'Schema changes' })
    await changes.getByText('coupon').waitFor()
    await changes.getByText('became string in some records').waitFor()
    await page.keyboard.press('3')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      panel.getByRole('link', { name: 'Download orders.ndjson' }).click(),
    ])
    const folder = mkdtempSync(join(tmpdir(), 'postroad-download-'))
    try {
      await download.saveAs(join(folder, 'orders.ndjson'))
      assert.equal(readFileSync(join(folder, 'orders.ndjson'), 'utf8').trim().split('\n').length, 26)
    } finally {
      rmSync(folder, { recursive: true })
    }
    await panel.getByText('CSV', { exact: true }).click()
    await panel.getByRole('button', { name: 'Copy as' }).click()
    await page.getByRole('menuitem', { name: 'Copy as a CLI command' }).click()
    assert.equal(await seen.copied(), `npx postroad datasets export --format csv ${id}`)
    await page.keyboard.press('4')
    await panel.getByLabel('Retention in days').fill('7')
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByText('7 days', { exact: true }).waitFor()
    assert.equal((await asked(world, `GET datasets/${id}`)).dataset.retention_days, 7)
    await seen.close()
  },
)

test(
  'the screen shows a Data API key once with commands that work, and the server refuses a revoked key',
  { skip: noBrowser },
  async () => {
    await file('reports', { total: 42 })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('data-keys'))
    await page.getByRole('heading', { name: 'No Data API keys yet' }).waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Warehouse')
    await dialog.getByText('Only selected').click()
    await dialog.getByLabel('Datasets', { exact: true }).fill('reports')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByText('The key is shown only once.').waitFor()
    await seen.picture('data-key')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.getByText('You have not copied the key.', { exact: false }).waitFor()
    const secret = await dialog.getByRole('group', { name: 'Data API key' }).locator('code').innerText()
    await dialog.getByRole('group', { name: 'Data API key' }).getByRole('button', { name: 'Copy' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    const read = (): Promise<Response> =>
      fetch(`${stage.world.baseUrl}/v1/data/reports`, { headers: { authorization: `Bearer ${secret}` } })
    assert.equal((await read()).status, 200)
    const panel = page.getByRole('region', { name: 'Key', exact: true })
    await panel.getByText('/v1/data/reports', { exact: false }).waitFor()
    await panel.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Revoke…' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('heading', { name: 'No Data API keys yet' }).waitFor()
    assert.equal((await read()).status, 401)
    await seen.close()
  },
)

test(
  'a person tests a forwarder from a preset; the screen shows the position and the gap of each signal, and names an unreachable receiver',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('forwarders'))
    await page.getByRole('heading', { name: 'No forwarders yet' }).waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: /^Datadog/ }).waitFor()
    await dialog.getByRole('button', { name: /^Datadog/ }).click()
    await dialog.getByText('Replace the part in braces', { exact: false }).waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Create', exact: true }).isDisabled(), true)
    await dialog.getByRole('button', { name: 'Back' }).click()
    await dialog.getByRole('button', { name: /^Any OTLP/ }).click()
    await dialog.getByLabel('Name', { exact: true }).fill('Collector')
    await dialog.getByLabel('Endpoint').fill(receiver.url)
    await dialog.getByLabel('Event sampling, percent').fill('50')
    await dialog.getByRole('button', { name: 'Send test' }).click()
    await dialog.getByText('logs accepted').waitFor()
    await dialog.getByText('traces accepted').waitFor()
    await seen.picture('forwarder-new')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    const panel = page.getByRole('region', { name: 'Forwarder', exact: true })
    await panel.getByText('Lag').first().waitFor()
    await panel.getByText('Nothing sent yet').first().waitFor()
    const [{ id, sample_rate }] = (await asked(world, 'GET forwarders')).forwarders
    assert.equal(sample_rate, 0.5)
    await seen.picture('forwarder')
    await asked(world, `PATCH forwarders/${id}`, { endpoint: 'http://127.0.0.1:9', sample_rate: 1 })
    await file('reports', { total: 1 })
    await eventually('the forwarder fails', async () => {
      world.clock.advance(5_000)
      return (await asked(world, `GET forwarders/${id}`)).forwarder.state === 'failing' ? true : undefined
    })
    await panel.getByRole('alert').first().getByText('in a row', { exact: false }).waitFor()
    await panel.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row').filter({ hasText: 'Collector' }).getByText('behind').first().waitFor()
    await seen.picture('forwarders')
    await seen.close()
  },
)
