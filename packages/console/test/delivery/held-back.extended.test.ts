import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import { aSink, eventually, type Answer, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** Every screen must report deliveries that are held back in the same way. */
let stage: Stage

onStage((made) => {
  ;({ stage } = made)
})

const shownOf = async (id: string): Promise<Answer['body']> =>
  (await stage.world.admin('GET', `destinations/${id}`)).body.destination

/** A destination whose breaker is open, with eleven deliveries that wait for it. */
async function aDeadDestination(
  t: TestContext,
  name: string,
): Promise<{ id: string; sink: Sink; deliveryId: string; recordId: string }> {
  const sink = await aSink()
  t.after(() => sink.stop())
  sink.answer({ status: 503 })
  const { destination } = await aDestination(stage.world, { name, url: sink.url })
  for (let index = 0; index < 10; index += 1)
    // oxlint-disable-next-line no-await-in-loop -- in this order
    await post(stage.world.endpoint, '{"total":1}')
  await stage.world.idle()
  assert.equal((await shownOf(destination.id)).breaker.state, 'open')
  await post(stage.world.endpoint, '{"total":2}')
  const { deliveries } = (await stage.world.admin('GET', `deliveries?destination_id=${destination.id}`)).body
  assert.equal(deliveries.length, 11)
  return { id: destination.id, sink, deliveryId: deliveries[0].id, recordId: deliveries[0].record_id }
}

test(
  'every screen that shows a delivery that is held back, or its destination, reports an open breaker, and a probe closes it',
  { skip: noBrowser },
  async (t) => {
    const { id, sink, deliveryId, recordId } = await aDeadDestination(t, 'Dead letter')
    const seen = await stage.owner()
    const { page } = seen
    // The list of deliveries, its banner and its view.
    await page.goto(stage.url('deliveries'))
    const banner = page.getByRole('list', { name: 'Destinations that are holding deliveries back' })
    await banner
      .getByText(/11 deliveries to .* held back for .*: the breaker is open, last response 503, next probe/)
      .waitFor()
    await page.getByRole('button', { name: 'Held' }).click()
    const rows = page.getByRole('grid', { name: 'Deliveries' }).or(page.getByRole('table', { name: 'Deliveries' }))
    await rows
      .getByText(/^probe/)
      .first()
      .waitFor()
    assert.equal(await rows.getByRole('img', { name: 'held' }).count(), 11, 'each row has the light of a held delivery')
    // Chips.
    await page.getByRole('button', { name: 'Filter by endpoint' }).click()
    await page.getByRole('menuitem').first().click()
    await page.getByRole('button', { name: /^Remove the filter endpoint/ }).waitFor()
    await rows
      .getByText(/^probe/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Filter by time' }).click()
    await page.getByRole('menuitem', { name: 'Last hour' }).click()
    await page.getByRole('button', { name: 'Remove the filter created last hour' }).waitFor()
    assert.match(page.url(), /endpoint=.*range=1h/)
    // The inspector.
    await page.goto(`${stage.url('deliveries')}?sel=${deliveryId}`)
    const panel = page.getByRole('region', { name: 'Delivery' })
    await panel
      .getByText(/Held back by its destination: the breaker is open, since .* The last attempt there failed: 503/)
      .waitFor()
    await panel.getByText('held', { exact: true }).waitFor()
    await panel.getByRole('button', { name: 'Retry now' }).click()
    await page.getByText(/The delivery is due now, but the circuit breaker of its destination is open/).waitFor()
    // The path of the event, and the view of failing events.
    await page.goto(`${stage.url('events')}?view=failing&sel=${recordId}`)
    await page
      .getByRole('group', { name: 'Path of this event' })
      .getByText(/held: the breaker is open/)
      .waitFor()
    // The destination: list, detail, health.
    await page.goto(`${stage.url('destinations')}?sel=${id}`)
    await page.getByText(/The circuit breaker is open after/).waitFor()
    await page.getByText(/; all held back/).waitFor()
    assert.ok((await page.getByText('breaker open', { exact: true }).count()) > 0)
    // "Goes to" of a rule, and the palette.
    const { rule } = (await stage.world.admin('POST', 'rules', { name: 'All', dataset: 'routed' })).body
    await page.goto(`${stage.url('rules')}?sel=${rule.id}&tab=goes-to`)
    await page.getByRole('list', { name: 'Destinations' }).getByText('breaker open: deliveries wait').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run' }).fill('Dead letter')
    await page.getByRole('option', { name: /destination, breaker open/ }).waitFor()
    await page.keyboard.press('Escape')
    // Probe now.
    sink.answer({ status: 200 })
    await page.goto(stage.url('deliveries'))
    await page.getByRole('button', { name: 'Probe now: Dead letter' }).click()
    await page.getByText('Postroad is sending a probe.').waitFor()
    await eventually('the probe ends', async () => ((await shownOf(id)).breaker.state === 'open' ? undefined : true))
    // The stream reads once a second by the clock of the test, and a read may be under way.
    await eventually('the banner is gone', async () => {
      stage.world.clock.advance(1_000)
      return (await banner.count()) === 0 ? true : undefined
    })
    await seen.close()
    await stage.world.admin('DELETE', `destinations/${id}`)
  },
)

test('a test that succeeds closes the breaker, and the dialog says so', { skip: noBrowser }, async (t) => {
  const { id, sink } = await aDeadDestination(t, 'Tested')
  sink.answer({ status: 200 })
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(`${stage.url('destinations')}?sel=${id}`)
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('The test closed the circuit breaker.').waitFor()
  await seen.close()
  await stage.world.admin('DELETE', `destinations/${id}`)
})

test('no screen shows an endpoint that checks signatures without a secret as on', { skip: noBrowser }, async () => {
  const { webhook } = (
    await stage.world.admin('POST', 'webhooks', {
      name: 'Unready',
      verification: { scheme: 'code_host', without_secret: true },
    })
  ).body
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('endpoints'))
  await page.getByText('no secret', { exact: true }).first().waitFor()
  await page.goto(`${stage.url('endpoints')}?sel=${webhook.id}`)
  await page.getByRole('heading', { name: 'Unready' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or run' }).fill('Unready')
  await page.getByRole('option', { name: /endpoint, no secret/ }).waitFor()
  await seen.close()
})
