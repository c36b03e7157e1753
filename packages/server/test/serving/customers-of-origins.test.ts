import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { aName, anIngestKey, aWebhook, submissionOf } from '../stage/fixtures.ts'
import { aSink, eventually, type Answer, type Sink, type World } from '../stage/harness.ts'
import { aGuest, aPortal, aPortalStage, inPortal, type PortalStage } from '../stage/portal-stage.ts'
import { aSocketServer } from '../stage/socket-server.ts'
import { asked, placeOf } from '../stage/source-stage.ts'
import { instanceIn, storeEvent, storeWorkflow } from '../stage/workflow-stage.ts'

/** Events of ingest keys, sources, WebSocket triggers and workflows name customers (docs/adr/0275). */
let stage: PortalStage
let world: World
let api: Sink
/** The destination of the customer `acme`, and of `4711`. */
let acme: string
let numbered: string

before(async () => {
  stage = await aPortalStage({}, 'all')
  ;({ world } = stage)
  api = await aSink()
  const portal = (await aPortal(world)).id
  const destinationOf = async (customerId: string): Promise<string> => {
    const guest = await aGuest(world, { portal, customerId })
    const made = await inPortal(world, guest, 'POST destinations', { url: `${stage.receiver.url}${customerId}` })
    return made.body.destination.id
  }
  acme = await destinationOf('acme')
  numbered = await destinationOf('4711')
})
after(async () => {
  await stage.stop()
  await api.stop()
})

const matchedBy = (submission: Answer['body']): readonly string[] =>
  submission.decision.destinations
    .filter((one: { matched: boolean }) => one.matched)
    .map((one: { destination_id: string }) => one.destination_id)

async function send(path: string, { body = {}, headers = {} }: { body?: object; headers?: Record<string, string> }) {
  const response = await fetch(`${world.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
  assert.equal(response.status, 201)
  const accepted: Answer['body'] = await response.json()
  return matchedBy(await submissionOf(world, accepted.id))
}

/** The submissions of a dataset, oldest first, once there are `count` of them. */
async function submissionsIn(dataset: string, count: number): Promise<readonly Answer['body'][]> {
  const rows = await eventually(`${count} events are in ${dataset}`, async () => {
    world.clock.advance(1_000)
    const found = await world.app.deps.database.many<{ submission_id: string }>(sql`
      select submission_id from records where workspace_id = ${placeOf(world).workspaceId} and dataset = ${dataset} order by id
    `)
    return found.length >= count ? found : undefined
  })
  return Promise.all(rows.map(({ submission_id: id }) => submissionOf(world, encodeId('submission', id))))
}

test('events of an ingest key name their customer in the place that the key sets, and in no other place', async () => {
  const plain = (await anIngestKey(world)).key
  const byHeader = await anIngestKey(world, { customer: { header: 'Service-Customer' } })
  const byPath = (await anIngestKey(world, { customer: { path: 'account.id' } })).key
  const headers = { 'service-customer': 'acme' }
  assert.deepEqual(await send(`/v1/ingest/${plain}/keyed`, { headers }), [])
  assert.deepEqual(await send(`/v1/ingest/${byHeader.key}/keyed`, { headers }), [acme])
  assert.deepEqual(await send(`/v1/ingest/${byPath}/keyed`, { headers }), [])
  assert.deepEqual(await send(`/v1/ingest/${byPath}/keyed`, { body: { account: { id: 4711 } } }), [numbered])
  const { ingest_key: changed } = await asked(world, `PATCH ingest-keys/${byHeader.id}`, { customer: null })
  assert.equal(changed.customer, null)
  assert.deepEqual(await send(`/v1/ingest/${byHeader.key}/keyed`, { headers }), [])
  const refused = await world.admin('PATCH', `ingest-keys/${byHeader.id}`, { customer: { header: 'no header' } })
  assert.equal(refused.status, 400)
})

test('an event for all rules goes to the customer of its key with each of its records', async () => {
  const { key } = await anIngestKey(world, { customer: { path: 'account' } })
  for (const dataset of ['ruled_one', 'ruled_two'])
    await asked(world, 'POST rules', {
      name: aName('rule'),
      dataset,
      conditions: [{ path: 'kind', equals: 'of customers' }],
    })
  assert.deepEqual(await send(`/v1/ingest/${key}`, { body: { kind: 'of customers', account: 'acme' } }), [acme, acme])
})

test('an endpoint decides which customer its events name, also when an ingest key sends them', async () => {
  const { key } = await anIngestKey(world, { customer: { header: 'Service-Customer' } })
  const silent = await aWebhook(world, {})
  const speaking = await aWebhook(world, { customer: { path: 'account' } })
  const event = { body: { account: '4711' }, headers: { 'service-customer': 'acme' } }
  assert.deepEqual(await send(`/v1/webhooks/${key}/${silent.slug}`, event), [])
  assert.deepEqual(await send(`/v1/webhooks/${key}/${speaking.slug}`, event), [numbered])
})

test('items of a source name their customer by a path, and an item without one goes to no customer', async () => {
  api.answer({ status: 200, body: '[{"account":"acme"},{"account":4711},{}]' })
  const settings = { kind: 'http_poll', url: `${api.url}items` }
  const members = { name: aName('source'), dataset: 'polled', settings, customer: { path: 'account' } }
  const { source } = await asked(world, 'POST sources', members)
  assert.deepEqual(source.customer, { path: 'account' })
  const found = (await submissionsIn('polled', 3)).slice(0, 3)
  assert.deepEqual(found.map(matchedBy), [[acme], [numbered], []])
  const { source: changed } = await asked(world, `PATCH sources/${source.id}`, { customer: null, enabled: false })
  assert.equal(changed.customer, null)
  const header = await world.admin('PATCH', `sources/${source.id}`, { customer: { header: 'Service-Customer' } })
  assert.equal(header.status, 400)
  assert.match(header.body.error, /\{"path": "customer\.id"\}/)
})

test('messages of a WebSocket name their customer by a path', async () => {
  const feed = await aSocketServer()
  try {
    const members = { name: aName('feed'), url: feed.url, dataset: 'framed', customer: { path: 'account' } }
    const { ws_trigger: trigger } = await asked(world, 'POST ws-triggers', members)
    assert.deepEqual(trigger.customer, { path: 'account' })
    await eventually('the trigger is connected', async () => {
      world.clock.advance(1_000)
      return feed.open.size > 0 ? true : undefined
    })
    feed.send('{"account":"acme"}')
    const [found] = await submissionsIn('framed', 1)
    assert.deepEqual(matchedBy(found), [acme])
    await asked(world, `DELETE ws-triggers/${trigger.id}`)
  } finally {
    await feed.stop()
  }
})

test('emit_event names the customer by text or template, and an event of a workflow inherits none', async () => {
  const workflowId = await storeWorkflow(world, {
    dataset: 'accounts',
    steps: [
      { id: 'none', type: 'emit_event', dataset: 'emitted' },
      { id: 'text', type: 'emit_event', dataset: 'emitted', customer: 'acme' },
      { id: 'template', type: 'emit_event', dataset: 'emitted', customer: '{{ payload.number }}' },
      { id: 'blank', type: 'emit_event', dataset: 'emitted', customer: '{{ payload.blank }}' },
    ],
  })
  await storeEvent(world, { dataset: 'accounts', data: { account: 'acme', number: 4711, blank: ' ' } })
  const { id } = await instanceIn(world, { workflowId, state: 'completed' })
  assert.deepEqual((await submissionsIn('emitted', 4)).map(matchedBy), [[], [acme], [numbered], []])
  const steps = await world.app.deps.database.many<{ input: object }>(
    sql`select input from workflow_step_runs where instance_id = ${id} order by seq`,
  )
  assert.deepEqual(
    steps.map(({ input }) => input),
    [
      { dataset: 'emitted' },
      { dataset: 'emitted', customer: 'acme' },
      { dataset: 'emitted', customer: '4711' },
      { dataset: 'emitted' },
    ],
  )
})

const workflow = (customer: string) => ({
  name: aName('flow'),
  entry_dataset: 'accounts',
  steps: [{ id: 'made', type: 'emit_event', dataset: 'emitted', customer }],
})

test('a template of the customer is checked when the workflow is saved, and a dry run shows its text', async () => {
  const refused = await world.admin('POST', 'workflows', workflow('{{ steps.later.output.id }}'))
  assert.equal(refused.status, 400)
  assert.match(refused.body.error, /steps\[0\]\.customer/)
  const { steps } = workflow('{{ payload.account }}')
  const asking = { entry_dataset: 'accounts', steps, payload: { account: 'acme' } }
  const [made] = (await asked(world, 'POST workflows/dry-run', asking)).steps
  assert.deepEqual(made.input, { dataset: 'emitted', customer: 'acme', data: { account: 'acme' } })
})
