import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aRule, post } from '../../../server/test/stage/fixtures.ts'
import { eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink
let destination: string

const HOUR_MS = 3_600_000

onStage(async (made) => {
  ;({ stage, sink } = made)
  const { world } = stage
  sink.answer({ status: 500, body: 'no' })
  ;({
    destination: { id: destination },
  } = await aDestination(world, { name: 'ledger', url: sink.url, retry: { schedule_seconds: [0] } }))
  for (const body of ['{"n":1}', '{"n":2}']) assert.equal((await post(world.endpoint, body)).status, 201)
  await world.idle()
  // The failures so far are a day old now, for the page that asks for yesterday.
  world.clock.advance(24 * HOUR_MS)
  assert.equal((await post(world.endpoint, '{"n":3}')).status, 201)
  await world.idle()
  sink.answer({ status: 200, body: 'yes' })
})

test(
  'a replay of a time range takes five clicks: it shows its total, ends with its result, and is in the history',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('deliveries'))
    await page.getByRole('button', { name: 'Filter by destination' }).click()
    await page.getByRole('menuitem', { name: 'ledger' }).click()
    await page.getByRole('button', { name: 'Replay in bulk' }).click()
    await page.getByText(/^3 deliveries, /).waitFor()
    await page.getByText('Yesterday', { exact: true }).click()
    await page.getByText(/^2 deliveries, /).waitFor()
    await seen.picture('replay-plan')
    await page.getByRole('button', { name: 'Send 2 again' }).click()
    const ongoing = page.getByRole('list', { name: 'Replays in progress' })
    // The server counts outcomes by its clock, so the clock advances until the last delivery is counted.
    await eventually('the page shows the end of the replay', async () => {
      stage.world.clock.advance(250)
      return (await ongoing.getByText('Replay done').isVisible()) ? true : undefined
    })
    await ongoing.getByText('2 deliveries sent again').waitFor()
    await seen.picture('replay-result')
    assert.equal(
      (await stage.world.admin('GET', `deliveries?state=failed&destination_id=${destination}`)).body.deliveries.length,
      1,
      'what failed today stays failed',
    )
    await ongoing.getByRole('button', { name: 'Hide result' }).click()
    await ongoing.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Replays', exact: true }).click()
    const history = page.getByRole('list', { name: 'Replay history' })
    const row = history.getByRole('listitem').first()
    await row.getByText(/^Failed deliveries to ledger, from .*, until /).waitFor()
    await row.getByText('2 deliveries sent again').waitFor()
    await row.getByText('done').waitFor()
    await seen.picture('replay-history')
    await seen.close()
  },
)

test(
  'a bulk replay takes the filters of the list, and names one that it cannot take',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const { dataset } = (await world.admin('GET', 'deliveries?state=failed')).body.deliveries[0]
    const { id: rule } = await aRule(world)
    const seen = await stage.owner()
    const { page } = seen
    const replay = page.getByRole('button', { name: 'Replay in bulk' })
    await page.goto(stage.url(`deliveries?state=failed&dataset=${dataset}`))
    await replay.click()
    await page.getByText(/^[1-9]\d* deliver(?:y|ies), /).waitFor()
    await page.getByText(`Deliveries to all destinations, in ${dataset}.`).waitFor()
    await page.goto(stage.url('deliveries?state=failed&dataset=nothing_is_in_it'))
    await replay.click()
    await page.getByText('No delivery matches.').waitFor()
    const range = 'from=2000-01-01T00:00:00.000Z&to=2000-01-02T00:00:00.000Z'
    await page.goto(stage.url(`deliveries?state=failed&${range}`))
    await replay.click()
    await page.getByText('No delivery matches.').waitFor()
    await page.goto(stage.url(`deliveries?rule=${rule}`))
    await replay.waitFor()
    assert.equal(await replay.isDisabled(), true)
    assert.equal(await replay.getAttribute('title'), 'A replay cannot filter by rule. Remove that filter first.')
    await seen.close()
  },
)

test(
  'the form names a range that ends before it starts, and cannot send it; a project without replays says so',
  { skip: noBrowser },
  async () => {
    const { project } = (await stage.world.admin('POST', 'projects', { name: 'Calm' })).body
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('deliveries?open=plan'))
    await page.getByText('Between…', { exact: true }).click()
    await page.getByLabel('From', { exact: true }).fill('2026-01-02T10:00')
    await page.getByLabel('To', { exact: true }).fill('2026-01-02T09:00')
    await page.getByText('The start of the time range is after its end.').waitFor()
    assert.ok(await page.getByRole('button', { name: /^Send .*again$/ }).isDisabled())
    const { workspace } = stage.world.installed
    await page.goto(`${stage.world.baseUrl}/${workspace.slug}/${project.slug}/deliveries?open=history`)
    await page.getByText(/^No replays yet\./).waitFor()
    await seen.close()
  },
)

test(
  'a viewer sees a replay in progress, and its buttons are dimmed with the reason, on a narrow page too',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const body = { filter: { state: ['delivered', 'failed'] }, rate_per_second: 1 }
    const { replay } = (await world.admin('POST', 'replays', body)).body
    assert.equal((await world.admin('POST', `replays/${replay.id}/pause`)).status, 200)
    const seen = await stage.member('viewer')
    const { page } = seen
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(stage.url('deliveries'))
    const ongoing = page.getByRole('list', { name: 'Replays in progress' })
    for (const name of ['Resume the replay', 'Cancel the replay']) {
      const button = ongoing.getByRole('button', { name })
      await button.waitFor()
      assert.equal(await button.isDisabled(), true, name)
      assert.match((await button.getAttribute('title')) ?? '', /requires the developer role/)
      const box = await button.boundingBox()
      assert.ok(box !== null && box.x + box.width <= 390, `${name} is on the page`)
    }
    await seen.close()
    assert.equal((await world.admin('POST', `replays/${replay.id}/cancel`)).status, 200)
  },
)

test('a plan cannot be sent while the page shows the count of an earlier choice', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  const isCounted = Promise.withResolvers<void>()
  await page.route('**/replays', async (route) => {
    const isSecond = route.request().postData()?.includes('cancelled') === true
    if (isSecond) await isCounted.promise
    await route.continue()
  })
  await page.goto(stage.url('deliveries?open=plan'))
  await page.getByRole('checkbox', { name: 'delivered', exact: true }).check()
  const send = page.getByRole('button', { name: /^Send .*again$/ })
  await send.and(page.locator(':enabled')).waitFor()
  await page.getByLabel('canceled', { exact: true }).check()
  await page.waitForRequest((request) => request.postData()?.includes('cancelled') === true)
  assert.equal(await send.isDisabled(), true)
  isCounted.resolve()
  await send.and(page.locator(':enabled')).waitFor()
  await seen.close()
})
