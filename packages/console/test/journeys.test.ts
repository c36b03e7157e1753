import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { aDestination, anIngestKey, aRule, post } from '../../server/test/stage/fixtures.ts'
import { eventually, type Sink } from '../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Seen, type Stage } from './stage/browser.ts'

/** The daily jobs of a user, each with the number of clicks that it takes. The run ends with a table of them. */
let stage: Stage
let sink: Sink
const rows: { readonly name: string; readonly clicks: number; readonly most: number }[] = []

const DAY_MS = 86_400_000

onStage(async (made) => {
  ;({ stage, sink } = made)
  const { world } = stage
  sink.answer(({ body }) => (body.includes('"bad"') ? { status: 500, body: 'the ledger is locked' } : { status: 200 }))
  await aDestination(world, { name: 'ledger', url: sink.url, datasets: ['events'], retry: { schedule_seconds: [0] } })
  await aDestination(world, { name: 'archive', url: sink.url, datasets: ['events'], retry: { schedule_seconds: [0] } })
  await aRule(world, {
    name: 'Large orders',
    dataset: 'large_orders',
    conditions: [{ path: 'total', op: 'gt', value: 1_000 }],
  })
  await aRule(world, { name: 'Every order', dataset: 'orders' })
  const { key } = await anIngestKey(world)
  for (const number of [1, 2]) await post(world.endpoint, JSON.stringify({ type: 'bad', number }))
  await world.idle()
  // These failures are from yesterday now.
  world.clock.advance(DAY_MS)
  await post(world.endpoint, '{"type":"bad","number":3}')
  await world.idle()
  await post(world.endpoint, '{"type":"order.created","customer":"Ada Lovelace"}')
  await post(`${world.baseUrl}/v1/ingest/${key}`, '{"type":"small.order","total":42}')
})

after(() => {
  if (rows.length === 0) return
  const lines = rows.map(
    ({ name, clicks, most }) => `${String(clicks).padStart(6)}  ${String(most).padStart(7)}  ${name}`,
  )
  process.stdout.write(`\nclicks  at most  job\n${lines.join('\n')}\n\n`)
})

/**
 * The page counts each press of a pointer, and each key that activates something. Text that is typed into a field is
 * not counted, nor is `/`, which leads to the field of the filter.
 */
const COUNT = `
  window.activations = 0
  const isTyping = (target) => target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  addEventListener('pointerdown', (event) => { if (event.isTrusted) window.activations += 1 }, true)
  addEventListener('keydown', (event) => {
    const typed = event.key === '/' || (isTyping(event.target) && event.key !== 'Enter')
    if (event.isTrusted && !typed && !/^(?:Control|Shift|Alt|Meta)$/.test(event.key)) window.activations += 1
  }, true)`

/** Does a job on a page that starts at this screen, and compares its clicks with the maximum. */
async function job(
  what: { readonly name: string; readonly screen: string; readonly most: number },
  work: (page: Page, seen: Seen) => Promise<void>,
): Promise<void> {
  const seen = await stage.owner()
  const { page } = seen
  const counting = await page.addInitScript(COUNT)
  await page.goto(stage.url(what.screen))
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
  await work(page, seen)
  const clicks = await page.evaluate<number>('window.activations')
  rows.push({ name: what.name, clicks, most: what.most })
  assert.ok(clicks <= what.most, `${what.name} took ${clicks} clicks`)
  await counting.dispose()
  await seen.close()
}

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text }).first()

test('the reason why an event was not delivered takes two clicks at most', { skip: noBrowser }, async () => {
  await job({ name: 'why an event was not delivered', screen: 'events', most: 2 }, async (page) => {
    await row(page, 'bad').click()
    const path = page.getByRole('group', { name: 'Path of this event' })
    await path.getByRole('listitem').filter({ hasText: 'ledger' }).getByText('500').waitFor()
    await page.getByRole('tab', { name: /^Response/ }).click()
    await page.getByText('the ledger is locked').first().waitFor()
  })
})

test(
  'a replay of the failures of yesterday to one destination takes five clicks at most',
  { skip: noBrowser },
  async () => {
    const sent = sink.received.length
    await job(
      { name: 'replay the failures of yesterday to one destination', screen: 'deliveries', most: 5 },
      async (page) => {
        await page.getByRole('button', { name: 'Filter by destination' }).click()
        await page.getByRole('menuitem', { name: 'ledger' }).click()
        await page.getByRole('button', { name: 'Replay in bulk' }).click()
        await page.getByText('Yesterday', { exact: true }).click()
        await page.getByText(/^2 deliveries, /).waitFor()
        await page.getByRole('button', { name: 'Send 2 again' }).click()
        await eventually('the receiver gets both events again', async () => {
          stage.world.clock.advance(250)
          return sink.received.length === sent + 2 ? true : undefined
        })
      },
    )
  },
)

test('the setup of Stripe with a secret and a signed test takes at most six clicks', { skip: noBrowser }, async () => {
  await job({ name: 'add Stripe with its secret and a test', screen: 'endpoints', most: 6 }, async (page) => {
    await page.getByRole('button', { name: 'New endpoint' }).click()
    await page.getByRole('button', { name: /^Stripe/ }).click()
    await page.getByRole('button', { name: 'Create the URL' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/\/main\/default\//).waitFor()
    await dialog.getByLabel('Secret', { exact: true }).fill('whsec_of_stripe')
    await dialog.getByRole('button', { name: 'Store the secret' }).click()
    await dialog.getByRole('button', { name: 'Send a signed test' }).click()
    await dialog.getByText('Stored. The signature is valid.').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('region', { name: 'Endpoint', exact: true }).waitFor()
  })
})

test('a person finds an event by one of its values by typing alone', { skip: noBrowser }, async () => {
  await job({ name: 'find an event by a value', screen: 'events', most: 0 }, async (page) => {
    await row(page, 'small.order').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('Lovelace')
    await row(page, 'bad').waitFor({ state: 'detached' })
    await row(page, 'order.created').waitFor()
  })
})

test('the reason why a rule did not match takes one click', { skip: noBrowser }, async () => {
  await job({ name: 'why a rule did not match', screen: 'events', most: 1 }, async (page) => {
    await row(page, 'small.order').click()
    const path = page.getByRole('group', { name: 'Path of this event' })
    await path
      .getByRole('listitem')
      .filter({ hasText: 'Large orders' })
      .getByText(/total > 1000.* 42/)
      .waitFor()
  })
})
