import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, aRule, anIngestKey, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink
let destination: string

onStage(async (made) => {
  ;({ stage, sink } = made)
  const { world } = stage
  ;({
    destination: { id: destination },
  } = await aDestination(world, {
    name: 'ledger',
    url: `${sink.url}hook`,
    headers: { 'X-Tenant': 'nobody-sees' },
    payload_template: { total: '{{ data.total }}' },
  }))
  const { public_url: stripe } = await aWebhook(world, { name: 'Stripe', event_title: { path: 'type' } })
  const key = await anIngestKey(world)
  await aRule(world, { name: 'Large', dataset: 'large', conditions: [{ path: 'total', op: 'gt', value: 100 }] })
  for (const [url, body] of [
    [stripe, '{"id":"evt_1","total":7,"customer":"Ada","type":"charge.succeeded"}'],
    [`${world.baseUrl}/v1/ingest/${key.key}`, '{"total":500,"type":"order.paid"}'],
  ] as const)
    assert.equal((await post(url, body)).status, 201)
  await world.idle()
})

test(
  'the list shows the title, the id and the payload of each event, and a chip for the rule that filed it',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('deliveries'))
    const rows = page.getByRole('grid', { name: 'Deliveries' }).getByRole('row')
    const charge = rows.filter({ hasText: 'charge.succeeded' })
    const { deliveries } = (await stage.world.admin('GET', 'deliveries')).body
    const { record_id } = deliveries.find(
      ({ event }: { event: { title: string } }) => event.title === 'charge.succeeded',
    )
    assert.match((await charge.textContent()) ?? '', new RegExp(`…${record_id.slice(-8)}`))
    await charge.getByText('customer Ada').waitFor()
    await seen.picture('deliveries-1440')
    for (const [width, name] of [
      [1_024, 'deliveries-1024'],
      [390, 'deliveries-390'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await charge.waitFor()
      await seen.picture(name)
    }
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.getByRole('button', { name: 'Filter by rule' }).click()
    await page.getByRole('menuitem', { name: 'Large' }).click()
    await page.getByText('1 delivery', { exact: true }).waitFor()
    await rows.filter({ hasText: 'order.paid' }).waitFor()
    assert.match(page.url(), /rule=rul_/)
    await page.getByRole('button', { name: 'Remove the filter rule Large' }).click()
    await page.getByText('2 deliveries', { exact: true }).waitFor()
    await seen.close()
  },
)

test(
  'the inspector shows the request as it was sent, says when its body is different now, and copies it as curl',
  { skip: noBrowser },
  async () => {
    const { deliveries } = (await stage.world.admin('GET', 'deliveries?limit=1')).body
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('deliveries')}?sel=${deliveries[0].id}`)
    const request = page.getByRole('group', { name: 'Attempt 1 request' })
    await request.getByText(`POST ${sink.url}hook`).waitFor()
    await request.getByText('service-signature').waitFor()
    assert.match((await request.textContent()) ?? '', /x-tenant••••••••/)
    await request.getByText(/^Body, /).click()
    await request.getByText('Postroad sent this body.').waitFor()
    assert.equal(await request.getByLabel('Request body').textContent(), '{"total":500}')
    await request.getByRole('button', { name: 'Copy as curl' }).click()
    const command = await seen.copied()
    assert.match(command, /x-tenant: ?"?\$\{?X_TENANT/i)
    assert.ok(command.includes('{"total":500}') && !command.includes('••'), command)
    await seen.picture('request-as-sent')
    await stage.world.admin('PATCH', `destinations/${destination}`, { payload_template: { sum: '{{ data.total }}' } })
    await page.reload()
    await request.getByText(/^Body, /).click()
    await request.getByText('The template has changed. Postroad sent a different body.').waitFor()
    assert.equal(await request.getByLabel('Request body').textContent(), '{"sum":500}')
    assert.equal(await request.getByRole('button', { name: 'Copy as curl' }).count(), 0)
    await seen.picture('request-changed')
    // The same in the inspector of the event.
    await page.goto(`${stage.url('events')}?sel=${deliveries[0].record_id}&tab=deliveries`)
    await request.getByText(`POST ${sink.url}hook`).waitFor()
    await seen.close()
  },
)

test(
  'a row of a list opens in another tab with Ctrl and by the middle button, and the list stays as it was',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('deliveries?state=delivered'))
    const row = page.getByRole('grid', { name: 'Deliveries' }).getByRole('row').filter({ hasText: 'charge.succeeded' })
    for (const press of [{ modifiers: ['ControlOrMeta' as const] }, { button: 'middle' as const }]) {
      const [tab] = await Promise.all([page.context().waitForEvent('page'), row.click(press)])
      await tab.getByRole('region', { name: 'Delivery' }).getByRole('heading', { name: 'ledger' }).waitFor()
      assert.match(tab.url(), /\?state=delivered&sel=dlv_/)
      await tab.close()
    }
    assert.doesNotMatch(page.url(), /sel=/)
    await row.click()
    await page.waitForURL(/sel=dlv_/)
    await seen.close()
  },
)

test(
  'a delivery shows the response indented, copies it as received, and leads to its destination, which lists events by title',
  { skip: noBrowser },
  async () => {
    const body = '{"received":true}'
    sink.answer({ status: 200, body })
    const { records } = (await post(stage.world.endpoint, '{"n":1}')).body
    await stage.world.idle()
    const [{ id }] = (await stage.world.admin('GET', `deliveries?record_id=${records[0].id}&state=delivered`)).body
      .deliveries
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('events')}?sel=${records[0].id}&tab=deliveries`)
    await page.getByRole('link', { name: 'Open the delivery' }).click()
    const panel = page.getByRole('region', { name: 'Delivery' })
    await panel.getByText('"received": true').waitFor()
    await panel.getByRole('button', { name: 'Copy the response body' }).click()
    assert.equal(await seen.copied(), body)
    await seen.picture('delivery-response')
    await page.keyboard.press('y')
    await page.getByText('ID copied').waitFor()
    assert.equal(await seen.copied(), id)
    await panel.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Copy as a CLI command' }).click()
    await page.getByText('Copied as CLI command').waitFor()
    assert.match(await seen.copied(), new RegExp(`deliveries get ${id}`))
    await panel.getByRole('link', { name: 'Open the destination' }).click()
    await page
      .getByRole('region', { name: 'Destination', exact: true })
      .getByRole('heading', { name: 'ledger' })
      .waitFor()
    const newest = page.getByRole('list', { name: 'Newest deliveries' })
    await newest.getByRole('listitem').filter({ hasText: 'charge.succeeded' }).getByText('Ada').waitFor()
    await seen.picture('destination-titles')
    await seen.close()
  },
)

test('the tooltip of a time shows how long ago it was', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('deliveries'))
  const time = page.getByRole('grid', { name: 'Deliveries' }).locator('time').first()
  await time.hover()
  assert.match((await time.getAttribute('title')) ?? '', /Z\n(?:just now|\d+ (?:s|min) ago)$/)
  await seen.close()
})

test('the list can be limited to the time between two moments', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  const { page } = seen
  const rows = page.getByRole('grid', { name: 'Deliveries' }).getByRole('row')
  await page.goto(stage.url('deliveries'))
  await page.getByRole('button', { name: 'Filter by time' }).click()
  await page.getByRole('menuitem', { name: 'Between…' }).click()
  const form = page.getByRole('form', { name: 'Time' })
  await form.getByLabel('from', { exact: true }).fill('2026-01-01T00:00:00')
  await form.getByLabel('to', { exact: true }).fill('2026-01-02T00:00:00')
  await form.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('heading', { name: 'No delivery matches' }).waitFor()
  await page.getByRole('button', { name: 'Remove the filter created Jan 1, 00:00 – Jan 2, 00:00' }).click()
  await rows.filter({ hasText: 'charge.succeeded' }).waitFor()
  assert.doesNotMatch(page.url(), /from=|to=/)
  const now = stage.world.clock.now()
  const moment = (hours: number): string => new Date(now + hours * 3_600_000).toISOString()
  await page.goto(stage.url(`deliveries?from=${moment(-1)}&to=${moment(1)}`))
  await rows.filter({ hasText: 'charge.succeeded' }).waitFor()
  await seen.close()
})
