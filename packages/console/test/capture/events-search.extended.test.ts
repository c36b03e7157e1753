import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** More events than the first read of the list, so only the server knows the oldest ones. */
const NEWER = 130

let stage: Stage
let sink: Sink

onStage(async (made) => {
  ;({ stage, sink } = made)
  sink.answer(({ body }) => ({ status: body.includes('needle.failed') ? 500 : 200 }))
  await aDestination(stage.world, {
    name: 'receiver',
    url: sink.url,
    retry: { schedule_seconds: [0] },
    conditions: [{ path: 'deliver', equals: true }],
  })
  await send({ type: 'needle.failed', deliver: true, total: 7 })
  await send({ type: 'needle.found', total: 5_000, 'a:b': 'Größe' })
  await stage.world.idle()
  for (let n = 0; n < NEWER; n += 1) await send({ type: 'hay', total: n })
})

const send = (value: unknown): ReturnType<typeof post> => post(stage.world.endpoint, JSON.stringify(value))

test(
  'the filter finds events that no page has read yet, and it applies to the live tail',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events'))
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByText('hay').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('total > 4000')
    await page.keyboard.press('Enter')
    const found = page.getByRole('row').filter({ hasText: 'needle.found' })
    await found.waitFor()
    await page.getByRole('row').filter({ hasText: 'hay' }).first().waitFor({ state: 'detached' })
    await page.getByText(`of ${NEWER + 2} searched`).waitFor()
    await send({ type: 'hay', total: 1 })
    await send({ type: 'came.live', total: 4_001 })
    await page.getByRole('row').filter({ hasText: 'came.live' }).waitFor()
    assert.equal(await page.getByRole('row').filter({ hasText: 'hay' }).count(), 0)
    await page.goto(`${stage.url('events')}?${new URLSearchParams({ f: String.raw`a\:b:equals:Größe` }).toString()}`)
    await found.waitFor()
    await page.goto(`${stage.url('events')}?q=${encodeURIComponent('GRÖSSE').replace('SS', 'ß')}`)
    await found.waitFor()
    await seen.close()
  },
)

test('a filter on the request of events finds those that arrive while it is shown', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  await seen.page.goto(stage.url(`events?f=${encodeURIComponent('$request.headers.x-topic:equals:orders')}`))
  await seen.page.getByText('Live', { exact: true }).waitFor()
  await seen.page.getByRole('heading', { name: /^0 of 13\d events match$/ }).waitFor()
  await post(stage.world.endpoint, '{"type":"of.customers"}', { headers: { 'X-Topic': 'customers' } })
  await post(stage.world.endpoint, '{"type":"of.orders"}', { headers: { 'X-Topic': 'orders' } })
  await seen.page.getByRole('row').filter({ hasText: 'of.orders' }).waitFor()
  assert.equal(await seen.page.getByRole('row').filter({ hasText: 'of.customers' }).count(), 0)
  await seen.close()
})

test(
  'the view of failing events finds events of any age, with all of their deliveries',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events?view=failing'))
    const row = page.getByRole('row').filter({ hasText: 'needle.failed' })
    await row.getByRole('img', { name: 'failed', exact: true }).nth(1).waitFor()
    await page.getByText('1 event of').waitFor()
    await seen.close()
  },
)

test('a filter that nothing matches reports how many events were searched', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  await seen.page.goto(stage.url('events?f=total:gt:999999'))
  await seen.page.getByRole('heading', { name: /^0 of 13\d events match$/ }).waitFor()
  await seen.page.getByText('Postroad searched the whole range').waitFor()
  await seen.close()
})

test(
  'a search through many events continues by itself, stops at a press, and continues at a press',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    let asked = 0
    const [third, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/search/events?*', async (route) => {
      asked += 1
      if (asked === 3) third.resolve()
      if (asked > 2) await (asked === 3 ? answer.promise : new Promise(() => undefined))
      await route.fulfill({
        json: {
          records: [],
          next_cursor: `page${asked}`,
          scanned: 2_500,
          reached: new Date(stage.world.clock.now() - asked * 60_000).toISOString(),
        },
      })
    })
    await page.goto(stage.url('events?f=total:gt:999999'))
    await page.getByRole('heading', { name: '5,000 events searched, no match yet' }).waitFor()
    await third.promise
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('heading', { name: '0 of 5,000 events match' }).waitFor()
    answer.resolve()
    await page.getByRole('heading', { name: '0 of 7,500 events match' }).waitFor()
    await Promise.all([
      page.waitForRequest(/cursor=page3/),
      page.getByRole('button', { name: 'Look further back' }).click(),
    ])
    await page.getByRole('heading', { name: '7,500 events searched, no match yet' }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await seen.close()
  },
)

test('a filter that the server refuses shows the reason, and can be removed', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events?f=total:gt:many&f=nonsense'))
  await page.getByRole('alert').getByText('"nonsense" has another form').waitFor()
  await page.getByRole('button', { name: 'Remove the filter nonsense' }).click()
  await page.getByRole('alert').getByText('finite number').waitFor()
  await page.getByRole('button', { name: 'Remove the filter total > many' }).click()
  await page.getByRole('row').filter({ hasText: 'hay' }).first().waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
  await seen.close()
})

test(
  'an incomplete condition filters nothing, and Enter adds it once it is complete',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).searchParams.get('q') ?? ''))
    await page.goto(stage.url('events'))
    await page.getByText('hay').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('total >')
    await page.getByText('Enter a value to apply the filter.').waitFor()
    assert.equal(new URL(page.url()).searchParams.get('q'), null)
    await page.keyboard.type(' 4000')
    await page.getByText('adds total > 4000').waitFor()
    assert.equal(new URL(page.url()).searchParams.get('q'), null)
    await page.getByRole('row').filter({ hasText: 'hay' }).first().waitFor()
    assert.equal(await page.getByRole('heading', { name: /^0 of/ }).count(), 0)
    await page.keyboard.press('Enter')
    await page.getByRole('row').filter({ hasText: 'needle.found' }).waitFor()
    assert.ok(!asked.some((q) => q.includes('>')), asked.join())
    await page.getByRole('button', { name: 'Remove the filter total > 4000' }).click()
    await page.keyboard.press('/')
    await page.keyboard.type('"total > 1"')
    await page.waitForURL((url) => url.searchParams.get('q') === 'total > 1')
    await seen.close()
  },
)

test(
  'a search covers unfiled requests, and names the requests that it does not cover',
  { skip: noBrowser },
  async () => {
    const picky = await aWebhook(stage.world, { name: 'Picky', criteria: [{ path: 'kind', equals: 'wanted' }] })
    await post(picky.public_url, '{"kind":"other","text":"sewing kit"}')
    await post(picky.public_url, '{"kind":"wanted","text":"sewing machine"}')
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('events?q=sewing'))
    await page.getByRole('row').filter({ hasText: 'in no dataset' }).filter({ hasText: 'Picky' }).waitFor()
    await page.getByText('2 events of').waitFor()
    await page
      .getByText('The search does not include rejected requests, because Postroad stores only samples of them.')
      .waitFor()
    await page.goto(stage.url('events?q=sewing&state=pending'))
    await page.getByText('The search does not include rejected requests or requests without a dataset.').waitFor()
    await seen.close()
  },
)

test(
  'a person filters events by endpoint, destination, state and rule, with chips that can be removed',
  { skip: noBrowser },
  async () => {
    const shop = await aWebhook(stage.world, { name: 'Shop' })
    await post(shop.public_url, '{"type":"from.shop"}')
    await aRule(stage.world, { name: 'gold', dataset: 'gold', conditions: [{ path: 'gold', equals: true }] })
    const { key } = await anIngestKey(stage.world)
    await post(`${stage.world.baseUrl}/v1/ingest/${key}`, '{"type":"gold.ruled","gold":true}')
    const seen = await stage.owner()
    const { page } = seen
    const row = (text: string) => page.getByRole('row').filter({ hasText: text })
    const add = async (kind: string, choice: string): Promise<void> => {
      await page.getByRole('button', { name: 'Add a filter' }).click()
      await page.getByRole('menuitem', { name: kind }).click()
      await page.getByRole('combobox', { name: kind.slice(0, -1) }).selectOption({ label: choice })
    }
    await page.goto(stage.url('events'))
    await row('hay').first().waitFor()
    await add('Endpoint…', 'Shop')
    await row('hay').first().waitFor({ state: 'detached' })
    await row('from.shop').waitFor()
    await send({ type: 'hay.live' })
    await post(shop.public_url, '{"type":"from.shop.live"}')
    await row('from.shop.live').waitFor()
    assert.equal(await row('hay').count(), 0)
    await page.getByRole('button', { name: 'Remove the filter endpoint is Shop' }).click()
    await add('Destination…', 'receiver')
    await row('needle.failed').waitFor()
    await add('State…', 'delivered')
    await row('needle.failed').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove the filter destination is receiver' }).click()
    await page.getByRole('button', { name: 'Remove the filter state is delivered' }).click()
    await add('Rule…', 'gold')
    await row('gold.ruled').waitFor()
    await row('hay').first().waitFor({ state: 'detached' })
    await page.getByText('New events are not checked against the rule.').waitFor()
    await post(`${stage.world.baseUrl}/v1/ingest/${key}`, '{"type":"gold.later","gold":true}')
    await page.getByRole('button', { name: 'Search again' }).click()
    await row('gold.later').waitFor()
    await page.getByRole('button', { name: 'Remove the filter rule is gold' }).click()
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByRole('menuitem', { name: 'Time…' }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: /^Remove the filter time is/ }).click()
    await row('hay').first().waitFor()
    await seen.close()
  },
)

test(
  'the live tail accepts every pattern that the server accepts, and none of them freezes the tab',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    const slow = `${'a{0,50}'.repeat(20)}b`
    await page.goto(`${stage.url('events')}?${new URLSearchParams({ f: `text:regex:${slow}` }).toString()}`)
    await page.getByRole('heading', { name: /^0 of/ }).waitFor()
    await send({ type: 'does.not.match', text: 'a'.repeat(256) })
    await send({ type: 'does.match', text: `${'a'.repeat(100)}b` })
    await page.getByRole('row').filter({ hasText: 'does.match' }).waitFor()
    assert.equal(await page.getByRole('row').filter({ hasText: 'does.not.match' }).count(), 0)
    await page.goto(`${stage.url('events')}?${new URLSearchParams({ f: 'text:regex:^(xy)+z' }).toString()}`)
    await page.getByRole('heading', { name: /^0 of/ }).waitFor()
    await send({ type: 'a.repeated.group', text: 'xyxyz' })
    await page.getByRole('row').filter({ hasText: 'a.repeated.group' }).waitFor()
    await seen.close()
  },
)

test(
  'a text finds an event by its title, which comes from a header, and by its query string',
  { skip: noBrowser },
  async () => {
    const headers = { 'x-github-event': 'needle_title' }
    await post(`${stage.world.endpoint}?tenant=needle_query`, '{"a":"titled"}', { headers })
    const seen = await stage.owner()
    const { page } = seen
    for (const q of ['NEEDLE_title', 'needle_query']) {
      await page.goto(`${stage.url('events')}?q=${q}`)
      await page.getByRole('row').filter({ hasText: 'needle_title' }).waitFor()
    }
    await page.goto(`${stage.url('events')}?q=needle_live`)
    await page.getByText('No event matches').or(page.getByText('searched')).first().waitFor()
    await post(stage.world.endpoint, '{}', { headers: { 'x-github-event': 'needle_live' } })
    await page.getByRole('row').filter({ hasText: 'needle_live' }).waitFor()
    await seen.close()
  },
)
