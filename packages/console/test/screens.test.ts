import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { aDestination, aRule, aWebhook, post } from '../../server/test/fixtures.ts'
import { aSink, eventually, type Sink } from '../../server/test/harness.ts'
import { aStage, noBrowser, type Seen, type Stage, type Theme } from './browser.ts'

let stage: Stage
let good: Sink
let bad: Sink
let recordId: string

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage()
  good = await aSink()
  bad = await aSink()
  bad.answer({ status: 500, body: 'no' })
  const { world } = stage
  await aDestination(world, { name: 'ledger', url: good.url })
  await aDestination(world, { name: 'fraud', url: bad.url, conditions: [{ path: 'total', op: 'gt', value: 10 }], retry: { schedule_seconds: [0] } })
  await aDestination(world, { name: 'whales', url: good.url, conditions: [{ path: 'total', op: 'gt', value: 1_000_000 }] })
  await aRule(world, { name: 'big orders' })
  const signed = await aWebhook(world, { name: 'Signed', verification: { scheme: 'code_host', secret: 'a secret' } })
  await post(signed.public_url, '{}')
  await eventually(async () => {
    world.clock.advance(1_000)
    return (await world.admin('GET', 'rejections')).body.rejections[0]
  })
  recordId = (await post(world.endpoint, JSON.stringify({ type: 'order.created', total: 42.5, items: [{ sku: 'a' }], note: null }))).body.records[0].id
  await Promise.all([good.until(1), bad.until(1)])
  await eventually(async () => ((await world.admin('GET', `deliveries?record_id=${recordId}`)).body.deliveries.every((one: { state: string }) => ['delivered', 'failed'].includes(one.state)) ? true : undefined))
})
after(async () => {
  await stage?.stop()
  await good?.stop()
  await bad?.stop()
})

/** Every screen and what opens on it: where to go, what shows that it is there, what to do then. */
const PLACES: readonly { readonly name: string; readonly at: () => string; readonly open?: (seen: Seen) => Promise<void> }[] = [
  { name: 'overview', at: () => 'overview', open: async ({ page }) => page.getByRole('heading', { name: 'Overview' }).waitFor() },
  { name: 'events', at: () => 'events', open: async ({ page }) => page.getByText('order.created').first().waitFor() },
  {
    name: 'an event, every tab',
    at: () => `events?sel=${recordId}`,
    open: async (seen) => {
      await seen.page.getByRole('treeitem').first().waitFor()
      await seen.accessible('payload')
      for (const tab of ['Headers', 'Deliveries', 'Raw', 'Routing']) {
        await seen.page.getByRole('tab', { name: new RegExp(`^${tab}`) }).click()
        await seen.accessible(tab)
      }
    },
  },
  { name: 'a filter that nothing meets', at: () => 'events?f=total:gt:100000000', open: async ({ page }) => page.getByRole('heading', { name: /^0 of / }).waitFor() },
  { name: 'refused requests', at: () => 'events?view=rejected', open: async ({ page }) => {
    await page.getByText('missing_header').click()
    await page.getByText(/Switch signing on/).waitFor()
  } },
  { name: 'sending an event', at: () => 'events', open: async ({ page }) => {
    await page.getByRole('button', { name: 'Send event' }).click()
    await page.getByRole('dialog').waitFor()
  } },
  { name: 'deliveries', at: () => 'deliveries', open: async ({ page }) => page.getByText('ledger').first().waitFor() },
  { name: 'a delivery', at: () => 'deliveries?state=failed', open: async ({ page }) => {
    await page.getByRole('row').filter({ hasText: 'fraud' }).click()
    await page.getByRole('group', { name: 'Attempts' }).getByText('500').waitFor()
  } },
  { name: 'the plan of a replay', at: () => 'deliveries?state=failed', open: async ({ page }) => {
    await page.getByRole('button', { name: 'Replay many' }).click()
    await page.getByText(/^1 delivery, /).waitFor()
  } },
  { name: 'the palette', at: () => 'deliveries', open: async ({ page }) => {
    await page.getByRole('button', { name: 'Search or run' }).click()
    await page.getByRole('option').first().waitFor()
  } },
  { name: 'the keys', at: () => 'deliveries', open: async ({ page }) => {
    await page.getByText('ledger').first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
  } },
  { name: 'a page that is not there', at: () => 'nothing', open: async ({ page }) => page.getByText('There is no page at this address').waitFor() },
]

for (const theme of ['light', 'dark'] as const satisfies readonly Theme[]) {
  describe(`${theme}: nothing stands in the way of anybody, and nothing is refused by the policy`, { skip: noBrowser }, () => {
    for (const { name, at, open } of PLACES) {
      test(name, async () => {
        const seen = await stage.owner(theme)
        await seen.page.goto(stage.url(at()))
        await seen.page.getByRole('navigation', { name: 'Main' }).waitFor()
        await open?.(seen)
        assert.equal(await seen.page.evaluate('document.documentElement.dataset.theme'), theme)
        await seen.accessible(name)
        await seen.close()
      })
    }
  })
}

test('the path of an event says where it went, and for each that did not take it the condition and the value it saw', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  await seen.page.goto(stage.url(`events?sel=${recordId}`))
  const path = seen.page.getByRole('group', { name: 'Path of this event' })
  await path.getByText('POST to First endpoint').waitFor()
  assert.match(await path.getByRole('listitem').filter({ hasText: 'ledger' }).innerText(), /200/)
  assert.match(await path.getByRole('listitem').filter({ hasText: 'fraud' }).innerText(), /500/)
  assert.match(await path.getByRole('listitem').filter({ hasText: 'whales' }).innerText(), /wanted total > 1000000, saw 42\.5/)
  await seen.close()
})

test('a failed delivery is replayed from the list, and its new attempt is seen', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  await seen.page.goto(stage.url('deliveries?state=failed'))
  await seen.page.getByRole('row').filter({ hasText: 'fraud' }).click()
  bad.answer({ status: 200 })
  await seen.page.getByRole('button', { name: /^Replay R/ }).click()
  await seen.page.getByText('It is sent again now.').waitFor()
  await bad.until(2)
  await seen.page.getByRole('region', { name: 'Delivery' }).getByText('delivered', { exact: true }).waitFor()
  await seen.close()
})

test('a delivery that waits is sent before its time, then cancelled, and nothing more is sent of it until it is replayed', { skip: noBrowser }, async () => {
  const { world } = stage
  const sink = await aSink()
  sink.answer({ status: 500 })
  const { destination } = await aDestination(world, { name: 'archive', url: sink.url, conditions: [{ path: 'kind', op: 'equals', value: 'archive' }], retry: { schedule_seconds: [0, 80_000, 80_000] } })
  await post(world.endpoint, '{"kind":"archive"}')
  await sink.until(1)
  const stateOf = async (): Promise<string> => (await world.admin('GET', `deliveries?destination_id=${destination.id}`)).body.deliveries[0].state
  await eventually(async () => ((await stateOf()) === 'retrying' ? true : undefined))
  const seen = await stage.owner('dark')
  const { page } = seen
  const panel = page.getByRole('region', { name: 'Delivery' })
  await page.goto(stage.url(`deliveries?destination=${destination.id}`))
  await page.getByRole('row').filter({ hasText: 'archive' }).click()
  await panel.getByRole('button', { name: /^Retry now/ }).waitFor()
  await seen.accessible('a delivery that waits')
  await page.keyboard.press('r')
  await sink.until(2)
  await eventually(async () => ((await stateOf()) === 'retrying' ? true : undefined))
  await panel.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('It is cancelled. It can be replayed.').waitFor()
  await panel.getByText('cancelled', { exact: true }).waitFor()
  assert.equal(await stateOf(), 'cancelled')
  await panel.getByRole('button', { name: /^Replay R/ }).waitFor()
  assert.equal(await panel.getByRole('button', { name: 'Cancel' }).count(), 0)
  await seen.close()
  await sink.stop()
})
