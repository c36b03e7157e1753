import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { aName, submissionOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import {
  aCustomersWebhook,
  aGuest,
  aPortal,
  aPortalStage,
  deliveriesOf,
  inPortal,
  type Guest,
  type PortalStage,
  type Receiver,
} from '../stage/portal-stage.ts'

/** Events reach the destinations of the customer that they name (docs/adr/0200), and customers see and repeat deliveries. */
let stage: PortalStage
let world: World
let receiver: Receiver
before(async () => {
  stage = await aPortalStage()
  ;({ world, receiver } = stage)
})
after(() => stage.stop())

let datasets = 0
const aDataset = (): string => {
  datasets += 1
  return `portal_${datasets}`
}

async function aDestinationOf(guest: Guest, members: object = {}): Promise<{ id: string; secret: string }> {
  const url = `${receiver.url}${aName('in')}`
  const { status, body } = await inPortal(world, guest, 'POST destinations', { url, ...members })
  assert.equal(status, 201, JSON.stringify(body))
  return { id: body.destination.id, secret: body.signing_secret }
}

const matchedIn = async (accepted: Answer): Promise<readonly string[]> =>
  (await submissionOf(world, accepted.body.id)).decision.destinations
    .filter((one: { matched: boolean }) => one.matched)
    .map((one: { destination_id: string }) => one.destination_id)

test('an event that names a customer goes to the destinations of this customer, signed, and to no other customer', async () => {
  const dataset = aDataset()
  const portal = (await aPortal(world)).id
  const [acme, globex] = [await aGuest(world, { portal }), await aGuest(world, { portal })]
  const [mine, theirs] = [await aDestinationOf(acme), await aDestinationOf(globex)]
  const post = await aCustomersWebhook(world, dataset)
  const accepted = await post(acme.customerId)
  assert.deepEqual(await matchedIn(accepted), [mine.id])
  const { decision } = await submissionOf(world, accepted.body.id)
  assert.deepEqual(decision.customer, { customer_id: acme.customerId, known: true })
  const [delivery] = await deliveriesOf(world, acme, { count: 1, status: ['delivered'] })
  assert.deepEqual(
    [delivery.event_id, delivery.dataset, delivery.destination_id, delivery.attempts, delivery.response_status],
    [accepted.body.records[0].id, dataset, mine.id, 1, 200],
  )
  const sent = receiver.received.at(-1) ?? assert.fail('Nothing came.')
  const [, t = '', v1 = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(sent.headers['service-signature'])) ?? []
  assert.equal(createHmac('sha256', mine.secret).update(`${t}.${sent.body}`).digest('hex'), v1)
  assert.deepEqual((await inPortal(world, globex, 'GET deliveries')).body.deliveries, [])
  assert.notEqual(mine.id, theirs.id)
})

test('an event without a customer, or with an unknown one, goes to no customer; the destinations of the project get every event', async () => {
  const dataset = aDataset()
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  await aDestinationOf(guest)
  const own = await world.admin('POST', 'destinations', {
    name: aName('own'),
    url: 'http://127.0.0.1:9/',
    datasets: [dataset],
  })
  const post = await aCustomersWebhook(world, dataset)
  for (const named of [undefined, 'nobody', ' ', 'x'.repeat(129)])
    assert.deepEqual(await matchedIn(await post(named)), [own.body.destination.id], String(named))
  const unknown = await submissionOf(world, (await post('nobody')).body.id)
  assert.deepEqual(unknown.decision.customer, { customer_id: 'nobody', known: false })
  assert.equal((await submissionOf(world, (await post()).body.id)).decision.customer, undefined)
  assert.equal((await matchedIn(await post(guest.customerId))).length, 2)
})

/** Sends an event and returns the destinations that get it. */
async function send({ public_url: url }: { public_url: string }, body: object, headers = {}) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers })
  return matchedIn({ status: response.status, headers: response.headers, body: await response.json() })
}

test('an endpoint without the setting ignores the header, and one with a path finds the customer in the payload', async () => {
  const dataset = aDataset()
  const guest = await aGuest(world, { portal: (await aPortal(world)).id, customerId: '4711' })
  const { id } = await aDestinationOf(guest, { event_types: [dataset] })
  const made = async (members: object): Promise<Answer['body']> =>
    (await world.admin('POST', 'webhooks', { name: aName('hook'), dataset, ...members })).body.webhook
  assert.deepEqual(await send(await made({}), {}, { 'service-customer': '4711' }), [])
  const byPath = await made({ customer: { path: 'account.id' } })
  assert.deepEqual(byPath.customer, { path: 'account.id' })
  assert.deepEqual(await send(byPath, { account: { id: '4711' } }), [id])
  assert.deepEqual(await send(byPath, { account: { id: 4711 } }), [id], 'a number is the id as written')
  assert.deepEqual(await send(byPath, { account: {} }, { 'service-customer': '4711' }), [])
  const { webhook } = (await world.admin('PATCH', `webhooks/${byPath.id}`, { customer: null })).body
  assert.equal(webhook.customer, null)
  assert.deepEqual(await send(webhook, { account: { id: '4711' } }), [])
  assert.equal((await world.admin('PATCH', `webhooks/${byPath.id}`, { customer: { header: 'no header' } })).status, 400)
})

test('a customer with destinations in two portals gets the event in both, and a portal delivers only the datasets that it exposes', async () => {
  const dataset = aDataset()
  const customerId = aName('acme')
  const open = await aGuest(world, { portal: (await aPortal(world)).id, customerId })
  const narrow = await aGuest(world, {
    portal: (await aPortal(world, { event_types: [dataset, 'other'] })).id,
    customerId,
  })
  const [first, second] = [await aDestinationOf(open), await aDestinationOf(narrow, { event_types: [dataset] })]
  const post = await aCustomersWebhook(world, dataset)
  assert.deepEqual((await matchedIn(await post(customerId))).toSorted(), [first.id, second.id].toSorted())
  await world.admin('PATCH', `portals/${narrow.portal}`, { event_types: ['other'] })
  assert.deepEqual(await matchedIn(await post(customerId)), [first.id])
  await world.admin('PATCH', `portals/${narrow.portal}`, { event_types: null })
  assert.equal((await matchedIn(await post(customerId))).length, 2)
})

test('events go to a customer by its new id, and to nobody once the customer is deleted', async () => {
  const dataset = aDataset()
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const { id } = await aDestinationOf(guest)
  const post = await aCustomersWebhook(world, dataset)
  const path = `portals/${guest.portal}/customers/${guest.customer}`
  const renamed = aName('renamed')
  await world.admin('PATCH', path, { customer_id: renamed })
  assert.deepEqual(await matchedIn(await post(guest.customerId)), [])
  assert.deepEqual(await matchedIn(await post(renamed)), [id])
  await world.admin('DELETE', path)
  assert.deepEqual(await matchedIn(await post(renamed)), [])
})

test('a destination that is turned off has its deliveries paused, and sends them when it is turned on', async () => {
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const { id } = await aDestinationOf(guest)
  const post = await aCustomersWebhook(world, aDataset())
  const off = await inPortal(world, guest, `PUT destinations/${id}`, { enabled: false })
  assert.deepEqual([off.body.destination.enabled, off.body.destination.disabled_reason], [false, 'by_hand'])
  await post(guest.customerId)
  const [paused] = await deliveriesOf(world, guest, { count: 1, status: ['paused'] })
  assert.equal(paused.pause_reason, 'destination_disabled')
  await inPortal(world, guest, `PUT destinations/${id}`, { enabled: true })
  await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
})

test('a customer sees each attempt with the request as it was sent, and the response', async () => {
  receiver.answer({ status: 500, body: 'not today' })
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  await aDestinationOf(guest)
  const accepted = await (await aCustomersWebhook(world, aDataset()))(guest.customerId)
  const [delivery] = await deliveriesOf(world, guest, { count: 1, status: ['retrying'] })
  receiver.answer({ status: 200, body: 'ok' })
  const { attempts } = (await inPortal(world, guest, `GET deliveries/${delivery.id}/attempts`)).body
  assert.deepEqual([attempts.length, attempts[0].response_status, attempts[0].response_body], [1, 500, 'not today'])
  const whole = (await inPortal(world, guest, `GET deliveries/${delivery.id}`)).body
  assert.deepEqual([whole.delivery.id, whole.attempts], [delivery.id, attempts])
  const { attempt, body } = (await inPortal(world, guest, `GET attempts/${attempts[0].id}`)).body
  assert.equal(attempt.request.headers['service-event-id'], accepted.body.records[0].id)
  assert.deepEqual([body.as_sent, JSON.parse(body.text).data], [true, { n: 1 }])
})

test('retry sends a waiting delivery now and an ended one again, and refuses a paused one', async () => {
  receiver.answer({ status: 500 })
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const { id } = await aDestinationOf(guest)
  await (
    await aCustomersWebhook(world, aDataset())
  )(guest.customerId)
  const [delivery] = await deliveriesOf(world, guest, { count: 1, status: ['retrying'] })
  receiver.answer({ status: 200 })
  assert.equal((await inPortal(world, guest, `POST deliveries/${delivery.id}/retry`)).status, 200)
  const [sent] = await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
  assert.equal(sent.attempts, 2)
  assert.equal((await inPortal(world, guest, `POST deliveries/${delivery.id}/retry`)).status, 200)
  await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
  const bodies = receiver.received.filter(({ headers }) => headers['service-event-id'] === delivery.event_id)
  assert.equal(new Set(bodies.map(({ body }) => body)).size, 1)
  await inPortal(world, guest, `PUT destinations/${id}`, { enabled: false })
  await (
    await aCustomersWebhook(world, aDataset())
  )(guest.customerId)
  const [paused] = await deliveriesOf(world, guest, { count: 1, status: ['paused'] })
  const { status, body } = await inPortal(world, guest, `POST deliveries/${paused.id}/retry`)
  assert.deepEqual([status, body.reason], [409, 'invalid_state'])
})

test('a test sends a signed sample now and returns the response, at most five in ten seconds', async () => {
  receiver.answer({ status: 202, body: 'thanks' })
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const { id } = await aDestinationOf(guest)
  const { status, body } = await inPortal(world, guest, `POST destinations/${id}/test`)
  assert.equal(status, 200)
  assert.deepEqual(
    [body.attempt.outcome, body.attempt.response_status, body.attempt.response_body],
    ['succeeded', 202, 'thanks'],
  )
  assert.equal(receiver.received.at(-1)?.headers['service-event-id'], body.attempt.event_id)
  for (let n = 1; n < 5; n += 1) await inPortal(world, guest, `POST destinations/${id}/test`)
  assert.equal((await inPortal(world, guest, `POST destinations/${id}/test`)).body.reason, 'rate_limited')
  assert.deepEqual((await inPortal(world, guest, 'GET deliveries')).body.deliveries, [])
  receiver.answer({ status: 200 })
})

test('rotating the secret returns a new one once, and signs with both during the overlap', async () => {
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const { id, secret } = await aDestinationOf(guest)
  const rotated = await inPortal(world, guest, `POST destinations/${id}/rotate-secret`, { overlap_hours: 1 })
  assert.equal(rotated.status, 200)
  const { signing_secret: next, destination } = rotated.body
  assert.match(next, /^whsec_/)
  assert.notEqual(next, secret)
  assert.notEqual(destination.previous_secret_expires_at, null)
  assert.equal(
    (await inPortal(world, guest, `POST destinations/${id}/rotate-secret`, {})).body.reason,
    'overlap_running',
  )
  await (
    await aCustomersWebhook(world, aDataset())
  )(guest.customerId)
  await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
  const { headers, body } = receiver.received.at(-1) ?? assert.fail('Nothing came.')
  const signature = String(headers['service-signature'])
  const t = /t=(\d+)/.exec(signature)?.[1]
  for (const key of [next, secret])
    assert.ok(signature.includes(createHmac('sha256', key).update(`${t}.${body}`).digest('hex')))
})

test('deleting a destination cancels its outstanding deliveries', async () => {
  receiver.answer({ status: 500 })
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const { id } = await aDestinationOf(guest)
  const accepted = await (await aCustomersWebhook(world, aDataset()))(guest.customerId)
  await deliveriesOf(world, guest, { count: 1, status: ['retrying'] })
  assert.equal((await inPortal(world, guest, `DELETE destinations/${id}`)).status, 200)
  receiver.answer({ status: 200 })
  assert.equal((await inPortal(world, guest, `GET destinations/${id}`)).status, 404)
  const [delivery] = (await world.admin('GET', `deliveries?record_id=${accepted.body.records[0].id}`)).body.deliveries
  assert.equal(delivery.state, 'cancelled')
})

test('deliveries are paged, newest first, and filtered by status and by destination', async () => {
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const [first, second] = [await aDestinationOf(guest), await aDestinationOf(guest)]
  const post = await aCustomersWebhook(world, aDataset())
  await post(guest.customerId)
  await post(guest.customerId)
  const found = await deliveriesOf(world, guest, { count: 4, status: ['delivered'] })
  const all: readonly string[] = found.map(({ id }) => id)
  assert.deepEqual(
    all,
    [...all].toSorted((a, b) => (a < b ? 1 : -1)),
  )
  const paged: string[] = []
  for (let cursor = ''; ;) {
    const { body } = await inPortal(world, guest, `GET deliveries?limit=3${cursor}`)
    paged.push(...body.deliveries.map(({ id }: { id: string }) => id))
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
  }
  assert.deepEqual(paged, all)
  const to = (await inPortal(world, guest, `GET deliveries?destination_id=${first.id}`)).body.deliveries
  assert.deepEqual(new Set(to.map((one: { destination_id: string }) => one.destination_id)), new Set([first.id]))
  assert.deepEqual((await inPortal(world, guest, 'GET deliveries?status=failed')).body.deliveries, [])
  assert.notEqual(first.id, second.id)
})

test('the destinations of customers never reach a private address, even where those of the project do', async (t) => {
  const narrow = await aPortalStage({ PORTAL_OUTBOUND_ALLOW: '' })
  t.after(() => narrow.stop())
  const at = narrow.world
  const guest = await aGuest(at, { portal: (await aPortal(at)).id })
  // The name is public until it is resolved.
  const made = await inPortal(at, guest, 'POST destinations', { url: narrow.receiver.url })
  assert.equal(made.status, 201)
  const { attempt } = (await inPortal(at, guest, `POST destinations/${made.body.destination.id}/test`)).body
  assert.deepEqual([attempt.outcome, attempt.error_code], ['failed', 'blocked_address'])
  await (
    await aCustomersWebhook(at, 'events')
  )(guest.customerId)
  const [delivery] = await deliveriesOf(at, guest, { count: 1, status: ['retrying'] })
  assert.equal(delivery.error_code, 'blocked_address')
  assert.deepEqual(narrow.receiver.received, [])
  const own = await at.admin('POST', 'destinations', { name: 'own', url: narrow.receiver.url })
  const tried = await at.admin('POST', `destinations/${own.body.destination.id}/test`, {})
  assert.equal(tried.body.attempt.outcome, 'succeeded')
})
