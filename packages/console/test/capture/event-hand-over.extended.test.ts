import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from 'node:test'
import { post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { localUrlOf } from '../../src/screens/capture/events/local-url.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** Tests that hand an event to a program on this machine or to another person, or compare it with another event. */

let stage: Stage
let sink: Sink
let recordId: string

onStage(async (made) => {
  ;({ stage, sink } = made)
  await post(stage.world.endpoint, '{"type":"order.created","total":5,"items":[{"sku":"a"}],"old":true}')
  const answer = await post(
    `${stage.world.endpoint}?tenant=ac%20me&b=it's`,
    '{"type":"order.created","total":42,"items":[{"sku":"a"}],"new":null}',
    {
      headers: { 'x-shop-topic': "it's here" },
    },
  )
  recordId = answer.body.records[0].id
})

test(
  'the copied command sends an event to a program on this machine, as it was received',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url(`events?sel=${recordId}`))
    await page.getByRole('treeitem').first().waitFor()
    const open = async (): Promise<void> => {
      await page.getByRole('region', { name: 'Event', exact: true }).getByRole('button', { name: /^More/ }).click()
      await page.getByRole('menuitem', { name: 'Send to localhost…' }).click()
      await page.getByRole('dialog').getByLabel('Your program').waitFor()
    }
    await open()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Your program').fill('http://')
    await dialog.getByText('Enter a port such as 3000', { exact: false }).waitFor()
    await dialog.getByLabel('Your program').fill(sink.url)
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
    await promisify(execFile)('sh', ['-c', await seen.copied()], {
      env: { PATH: process.env['PATH'] ?? '', no_proxy: '*' },
    })
    const [got] = sink.received
    assert.equal(got?.body.toString(), '{"type":"order.created","total":42,"items":[{"sku":"a"}],"new":null}')
    assert.equal(got?.headers['x-shop-topic'], "it's here")
    assert.equal(got?.path, '/?tenant=ac%20me&b=it%27s')
    await dialog.getByRole('button', { name: 'CLI' }).click()
    await dialog.getByText(/listen http.* --since '?\d{4}-/).waitFor()
    // The page remembers the address of the program.
    await page.reload()
    await page.getByRole('treeitem').first().waitFor()
    await open()
    assert.equal(await page.getByRole('dialog').getByLabel('Your program').inputValue(), sink.url)
    await seen.close()
  },
)

test('the copied link opens the same event, on the same tab, for another member', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  await seen.page.goto(stage.url(`events?sel=${recordId}&tab=headers`))
  const panel = seen.page.getByRole('region', { name: 'Event', exact: true })
  await panel.getByRole('button', { name: /^More/ }).click()
  await seen.page.getByRole('menuitem', { name: 'Copy a link to this event' }).click()
  await seen.page.getByText('Link copied').waitFor()
  const other = await stage.member('viewer')
  await other.page.goto(await seen.copied())
  await other.page.getByRole('tab', { name: /^Headers/, selected: true }).waitFor()
  await other.page.getByText(recordId).first().waitFor()
  await other.close()
  await seen.close()
})

test(
  'a comparison of two events shows changed, added and removed values, and the rest on request',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events?f=type:equals:order.created'))
    // A list that is still loading renders its rows again, and a click on them is lost.
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    await page.getByRole('row').nth(2).waitFor()
    for (const row of [2, 1]) await page.getByRole('row').nth(row).getByRole('checkbox').check({ force: true })
    await page.getByRole('toolbar').first().waitFor()
    await page.keyboard.press('=')
    const payload = page.getByRole('region', { name: 'Payload' })
    await payload.getByText('3 of 5 differ').waitFor()
    const lines = async (): Promise<string[]> =>
      (await payload.getByRole('listitem').allInnerTexts()).map((line) => line.replaceAll(/\s+/g, ' '))
    assert.deepEqual(await lines(), [
      '≠ changed: total 5 42',
      '− only in the older event: old true missing',
      '+ only in the newer event: new missing null',
    ])
    await page.getByLabel('Show matching values').check()
    assert.equal((await lines()).length, 5)
    await seen.close()
  },
)

test('a program is a port, a host with a port, or a URL', () => {
  assert.deepEqual(['3000', ' localhost:8080/x ', 'http://127.0.0.1:9', '', 'http://', '3000 4000'].map(localUrlOf), [
    'http://localhost:3000/',
    'http://localhost:8080/x',
    'http://127.0.0.1:9/',
    undefined,
    undefined,
    undefined,
  ])
})
