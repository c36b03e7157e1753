import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ALL,
  ask,
  assertRefused,
  call,
  created,
  enterPlaces,
  home,
  itemsOf,
  leavePlaces,
  LISTS,
  personally,
  type Heard,
  type Place,
} from '../stage/admin-asking.ts'
import {
  aConnectedAgentIn,
  aDeletionIn,
  aDeliveredIn,
  aMemberIn,
  anEventIn,
  anotherOwner,
  aRefusalIn,
} from '../stage/example-resources.ts'
import { anInstanceIn } from '../stage/example-workflows.ts'
import { example } from '../stage/route-examples.ts'

/** Lists of the admin API: pages, bounds, filters. */
before(enterPlaces)
after(leavePlaces)

const announce = (): Promise<Heard> => personally(home, 'POST platform/broadcasts', { title: 'x', text: 'x' })

/** The resources that no route creates directly; the others come with an event. */
const MAKERS: Readonly<Record<string, (at: Place) => Promise<unknown>>> = {
  'connectedAgents.list': aConnectedAgentIn,
  'deletions.list': aDeletionIn,
  'deliveries.list': aDeliveredIn,
  'broadcasts.list': announce,
  'members.list': aMemberIn,
  'platformAudit.list': announce,
  'platformSsoRequests.list': (at) => personally(at, 'POST sso/requests', { domains: ['example.com'] }),
  'platformWorkspaces.list': anotherOwner,
  'rejections.list': aRefusalIn,
  'workflowInstances.list': anInstanceIn,
}

test('every list is paged newest first: each item once, also when new items arrive in between', async () => {
  for (const list of LISTS) {
    const maker = ALL.find(({ name }) => name === list.name.replace('.list', '.create'))
    for (let count = 0; count < 5; count += 1) {
      if (maker !== undefined) await ask(maker, home, { asked: await example(maker, home) })
      else await (MAKERS[list.name] ?? anEventIn)(home)
    }
    const { query } = await example(list, home)
    const whole = itemsOf(await ask(list, home, { asked: { query: { ...query, limit: '200' } } })).map(({ id }) => id)
    assert.ok(whole.length >= 5, list.name)
    assert.deepEqual(whole, whole.toSorted().toReversed(), `${list.name} is newest first`)
    const exact = await ask(list, home, { asked: { query: { ...query, limit: String(whole.length) } } })
    assert.equal(exact.body.next_cursor, null, 'there is no page after the last item')
    const paged: string[] = []
    let cursor: string | null = null
    do {
      const page: Heard = await ask(list, home, {
        asked: { query: { ...query, limit: '2', ...(cursor === null ? {} : { cursor }) } },
      })
      assert.ok(itemsOf(page).length <= 2)
      paged.push(...itemsOf(page).map(({ id }) => id))
      cursor = page.body.next_cursor
      if (maker !== undefined && paged.length === 4) await ask(maker, home, { asked: await example(maker, home) })
    } while (cursor !== null)
    assert.deepEqual(paged, whole, list.name)
  }
})

test('an invalid limit or cursor is refused, and the limits of a page apply', async () => {
  for (const list of LISTS) {
    for (const limit of ['0', '-1', '201', '1.5', 'x', ''])
      assertRefused(await ask(list, home, { asked: { query: { limit } } }), 400, 'invalid_request')
    for (const cursor of ['x', 'AAAA', '../..', "'"])
      assertRefused(await ask(list, home, { asked: { query: { cursor } } }), 400, 'invalid_request')
    assert.equal((await ask(list, home, { asked: { query: { limit: '1' } } })).body.next_cursor?.length > 0, true)
  }
})

const found = async (query: Record<string, string>): Promise<string[]> =>
  itemsOf(await call(home, 'GET deliveries', { query })).map(({ id }) => id)

test('deliveries can be filtered by state, destination and record; submissions by endpoint; records by dataset', async () => {
  const { params } = await aDeliveredIn(home)
  const { delivery } = (await call(home, `GET deliveries/${params?.['id']}`)).body
  const { destination_id, record_id } = delivery
  assert.deepEqual(await found({ destination_id }), [delivery.id])
  assert.deepEqual(await found({ record_id, state: 'delivered' }), [delivery.id])
  assert.deepEqual(await found({ record_id, state: 'failed' }), [])
  assertRefused(await call(home, 'GET deliveries', { query: { state: 'lost' } }), 400, 'invalid_request')
  const { webhook } = await created(home, 'webhooks', {})
  const accepted = (await (await fetch(webhook.public_url, { method: 'POST', body: '{}' })).json()) as {
    id: string
    dataset: string
  }
  assert.deepEqual(
    itemsOf(await call(home, 'GET submissions', { query: { webhook_id: webhook.id } })).map(({ id }) => id),
    [accepted.id],
  )
  assert.equal(itemsOf(await call(home, 'GET records', { query: { dataset: accepted.dataset } })).length, 1)
})
