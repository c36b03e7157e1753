import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { aDestination, aRule, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { aSink, eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Seen, type Stage, type Theme } from './browser.ts'

type Made = { readonly stage: Stage; readonly bad: Sink; readonly recordId: string }

let stage: Stage
let good: Sink
let bad: Sink
let recordId: string

/** What all tests of a file look at: an event that one destination took, one refused and one did not want. */
export function onScreens(prepare: (made: Made) => void): void {
  before(() => makeAll(prepare))
  after(async () => {
    await stage?.stop()
    await good?.stop()
    await bad?.stop()
  })
}

async function makeAll(prepare: (made: Made) => void): Promise<void> {
  if (noBrowser !== false) return
  stage = await aStage()
  good = await aSink()
  bad = await aSink()
  bad.answer({ status: 500, body: 'no' })
  const { world } = stage
  await aDestination(world, { name: 'ledger', url: good.url })
  await aDestination(world, {
    name: 'fraud',
    url: bad.url,
    conditions: [{ path: 'total', op: 'gt', value: 10 }],
    retry: { schedule_seconds: [0] },
  })
  await aDestination(world, {
    name: 'whales',
    url: good.url,
    conditions: [{ path: 'total', op: 'gt', value: 1_000_000 }],
  })
  await aRule(world, { name: 'big orders' })
  const signed = await aWebhook(world, { name: 'Signed', verification: { scheme: 'code_host', secret: 'a secret' } })
  await post(signed.public_url, '{}')
  await eventually(async () => {
    world.clock.advance(1_000)
    return (await world.admin('GET', 'rejections')).body.rejections[0]
  })
  recordId = (
    await post(
      world.endpoint,
      JSON.stringify({ type: 'order.created', total: 42.5, items: [{ sku: 'a' }], note: null }),
    )
  ).body.records[0].id
  await Promise.all([good.until(1), bad.until(1)])
  await eventually(async () =>
    (await world.admin('GET', `deliveries?record_id=${recordId}`)).body.deliveries.every((one: { state: string }) =>
      ['delivered', 'failed'].includes(one.state),
    )
      ? true
      : undefined,
  )
  prepare({ stage, bad, recordId })
}

/** Every screen and what opens on it: where to go, what shows that it is there, what to do then. */
const PLACES: readonly {
  readonly name: string
  readonly at: () => string
  readonly open?: (seen: Seen) => Promise<void>
}[] = [
  {
    name: 'overview',
    at: () => 'overview',
    open: async ({ page }) => page.getByRole('heading', { name: 'Overview' }).waitFor(),
  },
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
  {
    name: 'a filter that nothing meets',
    at: () => 'events?f=total:gt:100000000',
    open: async ({ page }) => page.getByRole('heading', { name: /^0 of / }).waitFor(),
  },
  {
    name: 'refused requests',
    at: () => 'events?view=rejected',
    open: async ({ page }) => {
      await page.getByText('missing_header').click()
      await page
        .getByText(/Switch signing on/)
        .first()
        .waitFor()
    },
  },
  {
    name: 'sending an event',
    at: () => 'events',
    open: async ({ page }) => {
      await page.getByRole('button', { name: 'Send event' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'deliveries', at: () => 'deliveries', open: async ({ page }) => page.getByText('ledger').first().waitFor() },
  {
    name: 'a delivery',
    at: () => 'deliveries?state=failed',
    open: async ({ page }) => {
      await page.getByRole('row').filter({ hasText: 'fraud' }).click()
      await page.getByRole('group', { name: 'Attempts' }).getByText('500').waitFor()
    },
  },
  {
    name: 'the plan of a replay',
    at: () => 'deliveries?state=failed',
    open: async ({ page }) => {
      await page.getByRole('button', { name: 'Replay many' }).click()
      await page.getByText(/^1 delivery, /).waitFor()
    },
  },
  {
    name: 'the palette',
    at: () => 'deliveries',
    open: async ({ page }) => {
      await page.getByRole('button', { name: 'Search or run' }).click()
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'the keys',
    at: () => 'deliveries',
    open: async ({ page }) => {
      await page.getByText('ledger').first().waitFor()
      await page.keyboard.press('?')
      await page.getByRole('heading', { name: 'Keys' }).waitFor()
    },
  },
  {
    name: 'a page that is not there',
    at: () => 'nothing',
    open: async ({ page }) => page.getByText('There is no page at this address').waitFor(),
  },
]

/** Every screen, in one theme. */
export function testScreens(theme: Theme): void {
  describe(
    `${theme}: nothing stands in the way of anybody, and nothing is refused by the policy`,
    { skip: noBrowser },
    () => {
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
    },
  )
}
