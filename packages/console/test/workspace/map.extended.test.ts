import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { rollUp } from '../../../server/src/resources/workspace/rollups/roll-up.ts'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { aSink, type Answer, type Sink } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

const MINUTE_MS = 60_000
let stage: Stage
let sink: Sink
let shop: Answer['body']
let rule: Answer['body']
let ledger: Answer['body']
let fraud: Answer['body']
let begin: number

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage()
  sink = await aSink()
  sink.answer((request) => ({ status: request.path === '/bad' ? 500 : 200 }))
  const { world } = stage
  shop = await aWebhook(world, { name: 'Shop', dataset: 'orders' })
  const { key } = await anIngestKey(world, { name: 'Checkout' })
  rule = await aRule(world, { name: 'Large orders', dataset: 'large' })
  ;({ destination: ledger } = await aDestination(world, {
    name: 'Ledger',
    url: sink.url,
    datasets: ['orders', 'large'],
  }))
  ;({ destination: fraud } = await aDestination(world, {
    name: 'Fraud check',
    url: `${sink.url}bad`,
    datasets: ['large'],
    retry: { schedule_seconds: [0] },
  }))
  world.clock.advance(MINUTE_MS - (world.clock.now() % MINUTE_MS))
  begin = world.clock.now()
  // In the first minute one event, in the eleventh two from the endpoint, and three through the rule.
  await post(shop.public_url, '{"n":1}')
  await world.idle()
  world.clock.advance(10 * MINUTE_MS)
  for (const n of [2, 3]) await post(shop.public_url, JSON.stringify({ n }))
  for (const n of [1, 2, 3]) await post(`${world.baseUrl}/v1/ingest/${key}`, JSON.stringify({ n }))
  await world.idle()
  // Not at the start of a minute, where a range that ends now does not have it.
  world.clock.advance(2 * MINUTE_MS + 10_000)
  await rollUp(world.app.deps)
})
after(async () => {
  await stage?.stop()
  await sink?.stop()
})

const mapOf = (page: Page) => page.getByRole('region', { name: 'Map' })
const nodeOf = (page: Page, name: RegExp) => mapOf(page).getByRole('link', { name })

/** A minute of the address, counted from the first event. */
const span = (minute: number): string =>
  `from=${new Date(begin + minute * MINUTE_MS).toISOString()}&to=${new Date(begin + (minute + 1) * MINUTE_MS).toISOString()}`

test('a node leads to the list behind it, filtered to the node', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('overview'))
  for (const [name, screen, member, id] of [
    [/^Shop, endpoint; 3 events/, 'events', 'webhook', shop.id],
    [/^Large orders, rule; 3 events/, 'events', 'rule', rule.id],
    [/^large, dataset; 3 events/, 'events', 'dataset', 'large'],
    [/^Ledger, destination; 6 events/, 'deliveries', 'destination', ledger.id],
    [/^Fraud check, destination; 3 events.*100% fail/, 'deliveries', 'destination', fraud.id],
  ] as const) {
    await nodeOf(page, name).click()
    await page.waitForURL((url) => url.pathname.endsWith(`/${screen}`) && url.searchParams.get(member) === id)
    await page.goBack()
  }
  await seen.close()
})

test(
  'the map is one stop of the Tab key: arrows move along it, and Enter opens the list',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('overview'))
    await nodeOf(page, /^Shop/).waitFor()
    assert.equal(await mapOf(page).locator('[data-node][tabindex="0"]').count(), 1)
    await mapOf(page).locator('[data-node][tabindex="0"]').focus()
    const at = (): Promise<string | null | undefined> =>
      page.evaluate<string | null | undefined>('document.activeElement?.getAttribute("data-node")')
    const columns: (string | undefined)[] = []
    for (let step = 0; step < 4; step += 1) {
      columns.push((await at())?.split(':')[0])
      await page.keyboard.press('ArrowRight')
    }
    assert.deepEqual(columns.slice(1), ['rule', 'dataset', 'destination'])
    await page.keyboard.press('Home')
    const first = await at()
    await page.keyboard.press('ArrowDown')
    assert.notEqual(await at(), first)
    await page.keyboard.press('ArrowUp')
    assert.equal(await at(), first)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/deliveries\?destination=/)
    await seen.close()
  },
)

test(
  'the table has a row for every line, with its events, and leads to the events that went over it',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('overview'))
    await mapOf(page).getByRole('button', { name: 'Table' }).click()
    const row = (from: string, to: string) =>
      mapOf(page)
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name: from, exact: true }) })
        .filter({ has: page.getByRole('link', { name: to, exact: true }) })
    for (const [from, to, events] of [
      ['Shop', 'orders', '3'],
      ['Checkout', 'Large orders', '3'],
      ['Large orders', 'large', '3'],
      ['orders', 'Ledger', '3'],
      ['large', 'Ledger', '3'],
      ['large', 'Fraud check', '3'],
    ] as const)
      assert.equal(await row(from, to).getByRole('cell').nth(1).textContent(), events, `${from} to ${to}`)
    assert.match((await row('large', 'Fraud check').textContent()) ?? '', /100% fail/)
    await seen.accessibleInBothThemes('the table of the map')
    await row('large', 'Fraud check').getByRole('link').click()
    await page.waitForURL(
      ({ searchParams }) => searchParams.get('destination') === fraud.id && searchParams.get('dataset') === 'large',
    )
    await seen.close()
  },
)

test('a selected time shows the counts of that time, and the way back to now', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url(`overview?range=1h&${span(0)}`))
  await nodeOf(page, /^Shop, endpoint; 1 event,/).waitFor()
  await nodeOf(page, /^Fraud check, destination; no events$/).waitFor()
  await mapOf(page).getByText('The connections are those of now.').waitFor()
  await page.goto(stage.url(`overview?range=1h&${span(9)}`))
  await nodeOf(page, /^Shop, endpoint; no events$/).waitFor()
  await mapOf(page).getByRole('button', { name: 'Later' }).click()
  await nodeOf(page, /^Shop, endpoint; 2 events/).waitFor()
  await nodeOf(page, /^Fraud check, destination; 3 events/).waitFor()
  await mapOf(page).getByRole('button', { name: 'Back to now' }).click()
  await nodeOf(page, /^Shop, endpoint; 3 events/).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('from'), null)
  await seen.close()
})

test('the charts begin with the project, not 24 hours ago', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('overview'))
  const bars = page.getByRole('slider', { name: 'Events over time' })
  await bars.waitFor()
  const minutes = (stage.world.clock.now() - begin) / MINUTE_MS
  assert.ok(Number(await bars.getAttribute('aria-valuemax')) < minutes + 10, 'a bar is a minute')
  await seen.close()
})

test('at the width of a phone the map is a list of flows', { skip: noBrowser }, async () => {
  const seen = await stage.apart.owner()
  const { page } = seen
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(stage.url('overview'))
  const flows = mapOf(page).getByRole('region', { name: 'To destinations' })
  await flows.getByRole('link', { name: /large to Fraud check.*100% fail/ }).waitFor()
  assert.match((await flows.getByRole('listitem').first().textContent()) ?? '', /Fraud check/, 'problems come first')
  assert.equal(await mapOf(page).locator('[data-node]').count(), 0)
  await seen.accessible('the flows of a phone')
  await flows.getByRole('link', { name: /large to Fraud check/ }).click()
  await page.waitForURL(/\/deliveries\?/)
  await seen.close()
})

test('an event that arrives lights its line at once, and its count follows', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('overview'))
  await nodeOf(page, /^Shop, endpoint; 3 events/).waitFor()
  await mapOf(page).getByText('Live').waitFor()
  const line = mapOf(page).locator(`[data-line="webhook:${shop.id} dataset:orders"][data-live]`)
  const lit = line.waitFor({ state: 'attached' })
  await post(shop.public_url, '{"n":4}')
  await lit
  await stage.world.idle()
  await rollUp(stage.world.app.deps)
  await nodeOf(page, /^Shop, endpoint; 4 events/).waitFor()
  await line.waitFor({ state: 'detached' })
  await seen.close()
})

test(
  'of 300 nodes those with events or problems are drawn, and the rest are groups that open',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const { project } = (await world.admin('POST', 'projects', { name: 'Large' })).body
    const made = async (path: string, body: object): Promise<Answer['body']> => {
      const answer = await world.admin('POST', `projects/${project.id}/${path}`, body)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      return answer.body
    }
    for (let n = 0; n < 150; n += 1) {
      await made('webhooks', { name: `Sender ${n}`, dataset: n % 2 === 0 ? 'even' : 'odd' })
      await made('destinations', {
        name: `Receiver ${n}`,
        url: sink.url,
        datasets: [n % 2 === 0 ? 'even' : 'odd'],
        enabled: n !== 149,
      })
    }
    const { webhook } = await made('webhooks', { name: 'Busy sender', dataset: 'odd' })
    await post(webhook.public_url, '{}')
    await world.idle()
    await rollUp(world.app.deps)
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('overview', project.slug))
    await nodeOf(page, /^Busy sender, endpoint; 1 event,/).waitFor()
    await nodeOf(page, /^Receiver 149, destination; off; .*1 held/).waitFor()
    const nodes = mapOf(page).locator('[data-node]')
    const folded = await nodes.count()
    assert.ok(folded < 30, `${folded} nodes are drawn`)
    await seen.accessibleInBothThemes('the map of 300 nodes')
    const group = mapOf(page).getByRole('button', { name: /^150 endpoints/ })
    await group.press('Enter')
    await nodeOf(page, /^Sender 77, endpoint/).waitFor()
    assert.equal(await nodes.count(), folded + 150)
    await group.press('Enter')
    await nodeOf(page, /^Sender 77, endpoint/).waitFor({ state: 'detached' })
    await seen.close()
  },
)
