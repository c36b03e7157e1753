import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'
import { aLine } from '../stage/line.ts'

let stage: Stage
let sink: Sink

onStage(async (made) => {
  ;({ stage, sink } = made)
  await aDestination(stage.world, { name: 'receiver', url: sink.url })
})

const send = (value: unknown): ReturnType<typeof post> => post(stage.world.endpoint, JSON.stringify(value))

test('the keyboard alone finds, opens, reads, copies, filters and leaves events', { skip: noBrowser }, async () => {
  for (const n of [1, 2, 3]) await send({ type: `key.event${n}`, n })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events'))
  await page.getByText('key.event3').first().waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'key.event3' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'key.event2' }).waitFor()
  await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'key.event3' }).waitFor()
  await page.keyboard.press('2')
  await page.getByRole('tab', { name: 'Headers', selected: true }).waitFor()
  await page.keyboard.press('y')
  await page.getByText('ID copied').waitFor()
  assert.match(await seen.copied(), /^rec_/)
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Event', exact: true }).waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.keyboard.type('n > 2')
  await page.keyboard.press('Enter')
  await page.waitForURL(/[?&]f=n:gt:2$/)
  await page.getByText('key.event1').first().waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.waitForURL('**/deliveries')
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('events')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/events')
  await seen.close()
})

test(
  'the list does not move while a person reads: it counts new events and shows them on demand',
  { skip: noBrowser },
  async () => {
    await send({ type: 'read.me' })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events'))
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('row').filter({ hasText: 'read.me' }).first().click()
    await page.getByRole('heading', { name: 'read.me' }).waitFor()
    await send({ type: 'came.later' })
    await send({ type: 'came.later' })
    await page.getByRole('button', { name: /^2 newer events, waiting while you read/ }).waitFor()
    assert.equal(await page.getByRole('row').filter({ hasText: 'came.later' }).count(), 0)
    await page.keyboard.press('.')
    await page.getByRole('row').filter({ hasText: 'came.later' }).nth(1).waitFor()
    assert.equal(await page.getByRole('button', { name: /held while you read/ }).count(), 0)
    await seen.close()
  },
)

test('the list shows every digit of a number beyond 2^53, live and after a reload', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  const { page } = seen
  const row = page.getByRole('row').filter({ hasText: 'big.number' })
  await page.goto(stage.url('events?f=type:equals:big.number'))
  await page.getByText('Live', { exact: true }).waitFor()
  await post(stage.world.endpoint, '{"type":"big.number","amount":9007199254740993}')
  await row.getByText('9007199254740993').waitFor()
  await page.goto(stage.url('events?f=amount:equals:9007199254740993'))
  await row.getByText('9007199254740993').waitFor()
  await seen.close()
})

test(
  'the path of an event that was split names the items that did not meet the criteria',
  { skip: noBrowser },
  async () => {
    const { public_url: url } = await aWebhook(stage.world, {
      name: 'Splits',
      split: { path: 'list' },
      criteria: [{ path: 'is', equals: 'open' }],
    })
    const sent = await post(
      url,
      '{"list":[{"is":"shut"},{"is":"open"},{"is":"shut"},{"is":"shut"},{"is":"shut"},{"is":"lost"}]}',
    )
    const { id } = sent.body as { id: string }
    const seen = await stage.owner()
    await seen.page.goto(stage.url(`events?sel=${id}`))
    const path = seen.page.getByRole('group', { name: 'Path of this event' })
    await path.getByText('Items 1, 3, 4').waitFor()
    await path.getByText('and 1 more: wanted is is “open”, saw “shut”').waitFor()
    await path.getByText('Item 6').waitFor()
    await seen.close()
  },
)

test(
  'the states of the list fit beside an open delivery, also in a window of 1024 pixels',
  { skip: noBrowser },
  async () => {
    await send({ type: 'narrow' })
    const seen = await stage.owner()
    const { page } = seen
    await page.setViewportSize({ width: 1_024, height: 768 })
    await page.goto(stage.url('deliveries'))
    await page.getByRole('row').filter({ hasText: 'receiver' }).first().click()
    await page.getByRole('region', { name: 'Delivery' }).getByRole('button', { name: 'Close' }).waitFor()
    const states = page.getByRole('button', { name: 'State: All' })
    const HEAD = 'section[aria-labelledby="page-title"] > header'
    const cut = await page.evaluate<string[]>(
      `[...document.querySelectorAll('${HEAD}, ${HEAD} *')].filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth).map((one) => one.outerHTML)`,
    )
    assert.deepEqual(cut, [], 'nothing in the head is cut or scrolls')
    await seen.picture('narrow-delivery')
    await states.click()
    await seen.picture('narrow-states')
    await page.getByRole('menuitem', { name: 'Delivered' }).click()
    await page.waitForURL('**/deliveries?state=delivered')
    await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Delivered', pressed: true }).waitFor()
    await seen.close()
  },
)

test(
  'the page reports a stream that drops, reconnects by itself, and shows the events of the gap with a line about it',
  { skip: noBrowser },
  async () => {
    const line = await aLine(stage.world.address)
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events').replace(stage.world.baseUrl, line.url))
    await page.getByText('Live', { exact: true }).waitFor()
    line.cut()
    await page.getByText('Reconnecting', { exact: true }).waitFor()
    await send({ type: 'while.away' })
    line.mend()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('row').filter({ hasText: 'while.away' }).waitFor()
    await page.getByText(/s not received, 1 event backfilled/).waitFor()
    await seen.close()
    line.stop()
  },
)

test(
  'the page contains only the visible ones of a hundred thousand rows, and a person can reach the last one',
  { skip: noBrowser },
  async () => {
    const ROWS = 100_000
    const now = stage.world.clock.now()
    const records = Array.from({ length: ROWS }, (_none, index) => ({
      id: `rec_${String(index).padStart(26, '0')}`,
      dataset: 'events',
      submission_id: 'sub_x',
      received_at: new Date(now - index * 1_000).toISOString(),
      data: { type: `many.${index}` },
    }))
    const seen = await stage.owner()
    const { page } = seen
    await page.route('**/records?*', (route) => route.fulfill({ json: { records, next_cursor: null } }))
    await page.goto(stage.url('events'))
    await page.getByText('many.0', { exact: true }).first().waitFor()
    assert.ok((await page.getByRole('row').count()) < 80)
    await page.evaluate("document.querySelector('[role=grid] [role=rowgroup]').scrollTo(0, 1e9)")
    await page
      .getByText(`many.${ROWS - 1}`, { exact: true })
      .first()
      .waitFor()
    assert.ok((await page.getByRole('row').count()) < 80)
    await seen.close()
  },
)
