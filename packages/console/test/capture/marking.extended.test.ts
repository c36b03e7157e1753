import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { CORPUS, noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** The events of two and a half pages of the list. */
const EVENTS = 250
const BIG = '12345678901234567890'

let stage: Stage
let sink: Sink

onStage(async (made) => {
  ;({ stage, sink } = made)
  sink.answer({ status: 500 })
  await aDestination(stage.world, {
    name: 'receiver',
    url: sink.url,
    retry: { schedule_seconds: [0] },
    conditions: [{ path: 'deliver', equals: true }],
  })
  for (let n = 0; n < EVENTS; n += 1)
    await post(stage.world.endpoint, `{"type":"many","n":${n},"big":${BIG},"formula":"=1+1"}`)
  for (const n of [1, 2, 3])
    await post(
      stage.world.endpoint,
      JSON.stringify({
        type: `mark.${n}`,
        deliver: true,
        n,
        nested: { same: 'yes', other: n },
        ...(n === 1 ? { gone: true } : {}),
      }),
      { headers: { 'x-shard': String(n) } },
    )
  await stage.world.idle()
})

/** Selects the three newest rows by keys alone: the first, then up to the third. */
async function markThree(page: Page): Promise<void> {
  await page.getByRole('row').nth(3).waitFor()
  await page.keyboard.press('j')
  await page.waitForURL(/sel=/)
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.getByRole('row', { selected: true }).and(page.locator('[aria-rowindex="4"]')).waitFor()
  await page.keyboard.press('Shift+X')
  await page.getByRole('toolbar', { name: 'Selected' }).getByText('3 selected').waitFor()
}

test('keys alone select a range of rows and replay its failures, after a plan', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByText('mark.1').first().waitFor()
  await markThree(page)
  await page.keyboard.press('Escape')
  await seen.picture('marked-light')
  sink.answer({ status: 200 })
  await page.keyboard.press('Shift+R')
  await page.getByText('3 deliveries, to receiver').waitFor()
  await page.getByRole('button', { name: 'Send again 3' }).click()
  await page.getByText('3 of 3 sent again.').waitFor()
  await sink.until(6)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('toolbar', { name: 'Selected' }).waitFor({ state: 'detached' })
  await seen.close()
})

test('a person compares two selected events by payload and headers', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByRole('row').filter({ hasText: 'mark.3' }).getByRole('checkbox', { name: 'Select' }).check()
  await page.getByRole('row').filter({ hasText: 'mark.1' }).getByRole('checkbox', { name: 'Select' }).check()
  await page.keyboard.press('=')
  const payload = page.getByRole('region', { name: 'Payload' })
  const lineOf = (path: string) => payload.getByRole('listitem').filter({ hasText: path })
  await lineOf('nested.other').waitFor()
  assert.match(await lineOf('nested.other').innerText(), /changed:\s+nested\.other\s+1\s+3/)
  assert.match(await lineOf('gone').innerText(), /only in the older event:\s+gone\s+true\s+missing/)
  assert.equal(await lineOf('nested.same').count(), 0)
  assert.match(
    await page
      .getByRole('region', { name: 'Headers' })
      .getByRole('listitem')
      .filter({ hasText: 'x-shard' })
      .innerText(),
    /"1"\s+"3"/,
  )
  await page.getByLabel('Show matching values').check()
  await lineOf('nested.same').waitFor()
  await seen.picture('compare-dark')
  await seen.close()
})

test(
  'an export contains the whole list: CSV that no spreadsheet runs, or NDJSON with every digit',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events?f=type:equals:many'))
    await page.getByText('many').first().waitFor()
    const csv = await exported(page, 'CSV')
    const lines = csv.trimEnd().split('\r\n')
    assert.equal(lines.length, EVENTS + 1)
    assert.equal(lines[0], '\uFEFF"kind","id","received_at","dataset","reason","count","data"')
    const ndjson = (await exported(page, 'NDJSON')).trimEnd().split('\n')
    assert.equal(ndjson.length, EVENTS)
    assert.ok(ndjson.every((line) => line.includes(`"big":${BIG}`)))
    assert.deepEqual(
      ndjson.map((line) => (JSON.parse(line) as { data: { n: number } }).data.n),
      Array.from({ length: EVENTS }, (_none, n) => EVENTS - 1 - n),
    )
    await seen.close()
  },
)

test(
  'the page remembers the chosen columns of a view, including fields of the payload, and exports them',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events?f=type:equals:many'))
    await page.getByRole('columnheader', { name: 'Took' }).waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Took' }).uncheck()
    await page.getByRole('checkbox', { name: 'formula' }).check()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('columnheader', { name: 'formula' }).waitFor()
    await page.getByRole('columnheader', { name: 'Took' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('columnheader', { name: 'formula' }).waitFor()
    const [head = '', first = ''] = (await exported(page, 'CSV')).split('\r\n')
    assert.ok(head.includes('"count","formula","data"'))
    assert.ok(first.includes(`"'=1+1"`))
    await page.getByRole('button', { name: 'Failing' }).click()
    await page.getByRole('columnheader', { name: 'formula' }).waitFor({ state: 'detached' })
    await seen.close()
  },
)

test(
  'a person replays, copies and exports selected deliveries, stops a long export and saves its rows',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('deliveries'))
    await markThree(page)
    await page.keyboard.press('Escape')
    await page.getByRole('toolbar', { name: 'Selected' }).getByRole('button', { name: 'Copy IDs' }).click()
    await page.getByText('3 ids copied').waitFor()
    assert.match(await seen.copied(), /^(?:dlv_\w+\n?){3}$/)
    await page.getByRole('toolbar', { name: 'Selected' }).getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('There is nothing to do.').waitFor()
    await page.getByText('3 deliveries are left out: they have ended.').waitFor()
    await page.getByRole('button', { name: 'Back' }).click()

    let pages = 0
    await page.route(/\/deliveries\?.*limit=200/, async (route) => {
      pages += 1
      const id = `dlv_${String(pages).padStart(26, '0')}`
      await route.fulfill({
        json: {
          deliveries: [
            {
              id,
              record_id: 'rec_1',
              dataset: 'd',
              destination_id: 'dst_1',
              state: 'failed',
              pause_reason: null,
              held_by: null,
              event: { title: null, payload_start: '{}' },
              attempt_count: 1,
              next_attempt_at: null,
              last_status: 500,
              last_error: null,
              created_at: '2026-11-22T00:00:00.000Z',
              updated_at: '2026-11-22T00:00:00.000Z',
            },
          ],
          next_cursor: 'more',
        },
      })
    })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Export…' }).click()
    await page.getByRole('button', { name: 'Export', exact: true }).last().click()
    await page.getByText(/^[3-9] rows/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText(/^Stopped\. \d+ rows/).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Save these/ }).click(),
    ])
    assert.match(file.suggestedFilename(), /^deliveries-.*\.csv$/)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await seen.close()
  },
)

test('columns, comparisons and files never run a payload', { skip: noBrowser }, async () => {
  for (const evil of CORPUS)
    await post(stage.world.endpoint, JSON.stringify({ type: 'evil', evil, [evil]: { [evil]: evil } }), {
      headers: { 'x-evil': evil },
    })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events?f=type:equals:evil'))
  await page.getByRole('row').nth(CORPUS.length).waitFor()
  await page.getByRole('button', { name: 'Columns' }).click()
  for (const evil of CORPUS) {
    await page.getByLabel('Path to another field').fill(evil)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
  }
  await page.getByRole('checkbox', { name: 'evil', exact: true }).check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row').nth(1).getByRole('checkbox').check()
  for (let row = 2; row <= CORPUS.length; row += 1) {
    await page.getByRole('row').nth(row).getByRole('checkbox').check()
    await page.keyboard.press('=')
    await page.getByRole('region', { name: 'Payload' }).getByRole('listitem').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('row').nth(row).getByRole('checkbox').uncheck()
  }
  assert.ok((await exported(page, 'CSV')).includes('alert(1)'))
  await seen.close()
})

/** The file that the export of the list writes. */
async function exported(page: Page, format: 'CSV' | 'NDJSON'): Promise<string> {
  await page.getByRole('button', { name: 'More' }).first().click()
  await page.getByRole('menuitem', { name: 'Export…' }).click()
  await page.getByText(format, { exact: true }).click()
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export', exact: true }).click(),
  ])
  // The browser is shared with other files, so its downloads are copied to a folder where this file can read them.
  const folder = await mkdtemp(join(tmpdir(), 'postroad-export-'))
  try {
    await file.saveAs(join(folder, 'export'))
    return await readFile(join(folder, 'export'), 'utf8')
  } finally {
    await rm(folder, { recursive: true })
  }
}
