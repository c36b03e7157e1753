import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import { eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** More than the list reads at first, so that only the server can know of the oldest. */
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
  await sink.until(1)
  await eventually(async () =>
    (await stage.world.admin('GET', 'deliveries?state=failed')).body.deliveries.length === 1 ? true : undefined,
  )
  for (let n = 0; n < NEWER; n += 1) await send({ type: 'hay', total: n })
})

const send = (value: unknown): ReturnType<typeof post> => post(stage.world.endpoint, JSON.stringify(value))

test('the filter finds what no page has read yet, and the live tail keeps to it', { skip: noBrowser }, async () => {
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
  await page.getByText(`of ${NEWER + 2} looked through`).waitFor()
  await send({ type: 'hay', total: 1 })
  await send({ type: 'came.live', total: 4_001 })
  await page.getByRole('row').filter({ hasText: 'came.live' }).waitFor()
  assert.equal(await page.getByRole('row').filter({ hasText: 'hay' }).count(), 0)
  await page.goto(`${stage.url('events')}?${new URLSearchParams({ f: String.raw`a\:b:equals:Größe` }).toString()}`)
  await found.waitFor()
  await page.goto(`${stage.url('events')}?q=${encodeURIComponent('GRÖSSE').replace('SS', 'ß')}`)
  await found.waitFor()
  await seen.close()
})

test('what is failing is found however old it is, with all of its deliveries', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events?view=failing'))
  const row = page.getByRole('row').filter({ hasText: 'needle.failed' })
  await row.getByRole('img', { name: 'failed', exact: true }).nth(1).waitFor()
  await page.getByText('1 event of').waitFor()
  await seen.close()
})

test('a filter that nothing meets says how many events were looked through', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  await seen.page.goto(stage.url('events?f=total:gt:999999'))
  await seen.page.getByRole('heading', { name: /^0 of 13\d events match$/ }).waitFor()
  await seen.page.getByText('All of the range was looked through').waitFor()
  await seen.close()
})

test(
  'a search through many events goes on by itself, can be stopped, and goes on when told to',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    let asked = 0
    let answer: (() => void) | undefined
    await page.route('**/search/events?*', async (route) => {
      asked += 1
      if (asked > 2)
        await new Promise<void>((resolve) => {
          answer = resolve
        })
      await route.fulfill({
        json: {
          records: [],
          next_cursor: `page${asked}`,
          scanned: 2_500,
          reached: new Date(Date.now() - asked * 60_000).toISOString(),
        },
      })
    })
    await page.goto(stage.url('events?f=total:gt:999999'))
    await page.getByRole('heading', { name: '5,000 events looked through, none is like this so far' }).waitFor()
    await seen.accessible('a search that goes on')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('heading', { name: '0 of 5,000 events match' }).waitFor()
    answer?.()
    await page.getByRole('heading', { name: '0 of 7,500 events match' }).waitFor()
    await seen.accessible('a search that was stopped')
    await Promise.all([
      page.waitForRequest(/cursor=page3/),
      page.getByRole('button', { name: 'Look further back' }).click(),
    ])
    await page.getByRole('heading', { name: '7,500 events looked through, none is like this so far' }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await seen.close()
  },
)

for (const theme of ['light', 'dark'] as const) {
  test(
    `${theme}: what the server does not take is said beside the filter, and can be taken out`,
    { skip: noBrowser },
    async () => {
      const seen = await stage.owner(theme)
      const { page } = seen
      await page.goto(stage.url('events?f=total:gt:many&f=nonsense'))
      await page.getByRole('alert').getByText('"nonsense" is none').waitFor()
      await seen.accessible('a filter that is refused')
      await page.getByRole('button', { name: 'Remove the filter nonsense' }).click()
      await page.getByRole('alert').getByText('finite number').waitFor()
      await page.getByRole('button', { name: 'Remove the filter total > many' }).click()
      await page.getByRole('row').filter({ hasText: 'hay' }).first().waitFor()
      assert.equal(await page.getByRole('alert').count(), 0)
      await seen.close()
    },
  )
}
