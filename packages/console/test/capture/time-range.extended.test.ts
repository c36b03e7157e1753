import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rollUp } from '../../../server/src/resources/workspace/rollups/roll-up.ts'
import { post } from '../../../server/test/stage/fixtures.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

let stage: Stage
let begin: number

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage()
  // Events of the last twenty minutes, two in each.
  begin = stage.world.clock.now()
  for (let minute = 0; minute < 20; minute += 1) {
    for (const n of [1, 2]) await post(stage.world.endpoint, JSON.stringify({ type: `minute.${minute}`, n }))
    stage.world.clock.advance(60_000)
  }
  await rollUp(stage.world.app.deps)
})
after(() => stage?.stop())

test(
  'a drag over the bars selects a range, the address contains it, and a person clears it again',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('events?range=30m'))
    const bars = page.getByRole('slider', { name: 'Events over time' })
    await bars.waitFor()
    await page.getByRole('row').filter({ hasText: 'minute.19' }).first().waitFor()
    const box = await bars.boundingBox()
    assert.ok(box !== null)
    const count = Number(await bars.getAttribute('aria-valuemax')) + 1
    const middle = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.4, middle)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/[?&]from=/)
    const { from, to } = spanOf(page.url())
    assert.equal(from % 60_000, 0)
    assert.ok(Math.abs((to - from) / 60_000 - count * 0.2) <= 2, `${(to - from) / 60_000} of ${count} minutes`)
    await page.getByRole('row').filter({ hasText: 'minute.19' }).first().waitFor({ state: 'detached' })
    const inside = Math.round((Math.max(begin, from) + Math.min(to, begin + 1_200_000)) / 2 - begin)
    await page
      .getByRole('row')
      .filter({ hasText: `minute.${Math.floor(inside / 60_000)}` })
      .first()
      .waitFor()
    await seen.picture('brush')
    await page.getByRole('button', { name: 'Zoom to the selected time' }).click()
    await page.getByRole('button', { name: 'Zoom to the selected time' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear the selected time' }).click()
    await page.waitForURL((url) => !url.search.includes('from='))
    await page.getByRole('row').filter({ hasText: 'minute.19' }).first().waitFor()
    await seen.close()
  },
)

test('by keyboard, arrows move, Shift selects, Enter selects one bar, Escape clears', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('events?range=30m'))
  const bars = page.getByRole('slider', { name: 'Events over time' })
  await page.getByRole('row').filter({ hasText: 'minute.19' }).first().waitFor()
  await bars.focus()
  await page.keyboard.press('Home')
  assert.match((await bars.getAttribute('aria-valuetext')) ?? '', /^\d\d:\d\d: 0 in, 0 failed or rejected$/)
  await page.keyboard.press('End')
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowLeft')
  assert.match((await bars.getAttribute('aria-valuetext')) ?? '', /: 2 in,/)
  await page.keyboard.down('Shift')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.up('Shift')
  await page.waitForURL(/[?&]from=/)
  const { from, to } = spanOf(page.url())
  assert.equal(to - from, 180_000)
  await page.getByText('6 events').waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => !url.search.includes('from='))
  await page.keyboard.press('Enter')
  await page.waitForURL(/[?&]from=/)
  const one = spanOf(page.url())
  assert.equal(one.to - one.from, 60_000)
  await seen.close()
})

test('the bars show a range of the address with the time around it', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(
    stage.url(`events?from=${new Date(begin).toISOString()}&to=${new Date(begin + 120_000).toISOString()}`),
  )
  await page.getByText('4 events').waitFor()
  await page.getByRole('row').filter({ hasText: 'minute.1' }).first().waitFor()
  assert.ok(Number(await page.getByRole('slider', { name: 'Events over time' }).getAttribute('aria-valuemax')) >= 20)
  await seen.close()
})

test(
  'without a rejected request, the bars count no accepted event and the list says that there is none',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(
      stage.url(
        `events?view=rejected&from=${new Date(begin).toISOString()}&to=${new Date(begin + 600_000).toISOString()}`,
      ),
    )
    const bars = page.getByRole('slider', { name: 'Events over time' })
    await bars.focus()
    await page.keyboard.press('Home')
    const last = Number(await bars.getAttribute('aria-valuemax'))
    const texts: (string | null)[] = []
    for (let at = 0; at <= last; at += 1) {
      texts.push(await bars.getAttribute('aria-valuetext'))
      await page.keyboard.press('ArrowRight')
    }
    await page.getByRole('heading', { name: 'No rejected requests' }).waitFor()
    assert.ok(texts.length > 10)
    assert.deepEqual(
      texts.filter((text) => !/: 0 found of 0 in, /.test(text ?? '')),
      [],
    )
    await seen.close()
  },
)

test('the overview sums up a selected range and leads to its events and deliveries', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('overview?range=1h'))
  const bars = page.getByRole('slider', { name: 'Events over time' })
  await bars.focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.down('Shift')
  for (let step = 0; step < 30; step += 1) await page.keyboard.press('ArrowLeft')
  await page.keyboard.up('Shift')
  await page.waitForURL(/[?&]from=/)
  await page.getByRole('status').getByText(' in, ').waitFor()
  await seen.picture('overview')
  await page.getByRole('link', { name: 'Show these events' }).click()
  await page.waitForURL(/\/events\?from=/)
  await page.getByRole('row').filter({ hasText: 'minute.' }).first().waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'Show these deliveries' }).click()
  await page.waitForURL(/\/deliveries\?from=/)
  await page.getByRole('heading', { name: 'No delivery matches' }).waitFor()
  await seen.close()
})

function spanOf(url: string): { from: number; to: number } {
  const { searchParams } = new URL(url)
  return { from: Date.parse(searchParams.get('from') ?? ''), to: Date.parse(searchParams.get('to') ?? '') }
}
