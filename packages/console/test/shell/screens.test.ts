import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import { aSink, eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, type Stage } from '../stage/browser.ts'
import { onScreens } from '../stage/screens.ts'

let stage: Stage
let bad: Sink
let recordId: string

onScreens((made) => {
  ;({ stage, bad, recordId } = made)
})

test(
  'the path of an event names each destination that got it, and for every other one the failed condition and the value that it saw',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    await seen.page.goto(stage.url(`events?sel=${recordId}`))
    const path = seen.page.getByRole('group', { name: 'Path of this event' })
    await path.getByText('POST to endpoint “First endpoint”').waitFor()
    assert.match(await path.getByRole('listitem').filter({ hasText: 'ledger' }).innerText(), /200/)
    assert.match(await path.getByRole('listitem').filter({ hasText: 'fraud' }).innerText(), /500/)
    assert.match(
      await path.getByRole('listitem').filter({ hasText: 'whales' }).innerText(),
      /wanted total > 1000000, saw 42\.5/,
    )
    await seen.close()
  },
)

test('a person replays a failed delivery from the list, and sees its new attempt', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  await seen.page.goto(stage.url('deliveries?state=failed'))
  await seen.page.getByRole('row').filter({ hasText: 'fraud' }).filter({ hasText: 'order.created' }).click()
  const sent = bad.received.length
  bad.answer({ status: 200 })
  await seen.page.getByRole('button', { name: /^Replay R/ }).click()
  await seen.page.getByText('Postroad is sending the delivery again.').waitFor()
  await bad.until(sent + 1)
  await seen.page.getByRole('region', { name: 'Delivery' }).getByText('delivered', { exact: true }).waitFor()
  await seen.close()
})

test(
  'a person sends a waiting delivery early and cancels it; it is not sent again until a person replays it',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const sink = await aSink()
    sink.answer({ status: 500 })
    const { destination } = await aDestination(world, {
      name: 'archive',
      url: sink.url,
      conditions: [{ path: 'kind', op: 'equals', value: 'archive' }],
      retry: { schedule_seconds: [0, 80_000, 80_000] },
    })
    await post(world.endpoint, '{"kind":"archive"}')
    await sink.until(1)
    const stateOf = async (): Promise<string> =>
      (await world.admin('GET', `deliveries?destination_id=${destination.id}`)).body.deliveries[0].state
    await world.idle()
    const seen = await stage.owner('dark')
    const { page } = seen
    const panel = page.getByRole('region', { name: 'Delivery' })
    await page.goto(stage.url(`deliveries?destination=${destination.id}`))
    await page.getByRole('row').filter({ hasText: 'archive' }).click()
    await panel.getByRole('button', { name: /^Retry now/ }).waitFor()
    await page.keyboard.press('r')
    await sink.until(2)
    await eventually('the second attempt fails', async () => ((await stateOf()) === 'retrying' ? true : undefined))
    await panel.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The delivery is canceled. You can replay it.').waitFor()
    await panel.getByText('canceled', { exact: true }).waitFor()
    assert.equal(await stateOf(), 'cancelled')
    await panel.getByRole('button', { name: /^Replay R/ }).waitFor()
    assert.equal(await panel.getByRole('button', { name: 'Cancel' }).count(), 0)
    await seen.close()
    await sink.stop()
  },
)
