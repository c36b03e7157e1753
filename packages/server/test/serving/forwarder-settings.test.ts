import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createForwards } from '../../src/pipeline/forward/index.ts'
import { aName } from '../stage/fixtures.ts'
import { onForwarderStage } from '../stage/forwarder-stage.ts'
import { aWorld, type Answer } from '../stage/harness.ts'
import { aKeyOf, theWorkspace } from '../stage/people.ts'
import { asked } from '../stage/source-stage.ts'

/** The settings of a forwarder: its receiver, its secrets and its callers. */
const stage = onForwarderStage()
const { aForwarder, run, events, receiver } = stage

const LOGS = { signals: ['logs'], content: ['submissions'] }

test('the guard checks every address, and plain http goes only to addresses in OUTBOUND_ALLOW', async () => {
  const guarded = await aWorld({
    env: { ROLES: 'web', OUTBOUND_ALLOW: '' },
    resolver: {
      resolve: () => Promise.resolve({ kind: 'addresses', source: 'dns', addresses: ['10.0.0.1'] }),
      close: () => undefined,
    },
    loops: [],
  })
  const send = (endpoint: string): Promise<Answer> =>
    guarded.admin('POST', 'forwarders', { name: aName('guarded'), endpoint, content: ['audit'], signals: ['logs'] })
  try {
    for (const endpoint of [
      'http://otlp.example.com',
      'http://127.0.0.1:4318',
      'https://169.254.169.254',
      'ftp://a.example',
    ])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      assert.equal((await send(endpoint)).status, 400, endpoint)
    const { forwarder } = (await send('https://otlp.example.com')).body
    guarded.clock.advance(5_000)
    await asked(guarded, 'POST datasets', { name: 'something' })
    await createForwards(guarded.app.deps, 'guarded').run()
    const { progress } = (await asked(guarded, `GET forwarders/${forwarder.id}`)).forwarder
    assert.equal(progress.logs.last_error.reason, 'blocked_address')
    const tried = await asked(guarded, 'POST forwarders/test', { forwarder_id: forwarder.id })
    assert.equal(tried.results[0].error.reason, 'blocked_address')
  } finally {
    await guarded.stop()
  }
})

test('values of headers are in no answer, no audit row and no other place, and go only to the origin that they were set for', async () => {
  const world = stage.world()
  const secret = 'canary-key-of-a-forwarder'
  const { id } = await aForwarder({ ...LOGS, headers: { 'X-Key': secret } })
  receiver().answer({ status: 401 })
  await events(1)
  await run()
  const shown = [
    await asked(world, `GET forwarders/${id}`),
    await asked(world, 'GET forwarders'),
    await asked(world, 'POST forwarders/test', { forwarder_id: id }),
    await asked(world, `PATCH forwarders/${id}`, { name: aName('renamed') }),
    await asked(world, 'GET audit?limit=200'),
  ]
  assert.ok(!JSON.stringify(shown).includes(secret))
  const moved = { endpoint: receiver().url.replace('127.0.0.1', 'localhost') }
  assert.equal((await world.admin('PATCH', `forwarders/${id}`, moved)).status, 400)
  assert.equal((await world.admin('POST', 'forwarders/test', { forwarder_id: id, ...moved })).status, 400)
  const given = { ...moved, headers: { 'X-Key': null } }
  assert.equal((await world.admin('PATCH', `forwarders/${id}`, given)).status, 400)
})

test('a preset requires the headers and the encoding that its receiver needs', async () => {
  const world = stage.world()
  const sent = (body: object) => world.admin('POST', 'forwarders/test', { endpoint: receiver().url, ...body })
  const without = await sent({ preset: 'honeycomb' })
  assert.equal(without.status, 400)
  assert.match(without.body.error, /Honeycomb requires x-honeycomb-team/)
  const json = await sent({ preset: 'datadog', headers: { 'DD-API-KEY': 'k' }, encoding: 'json' })
  assert.match(json.body.error, /Datadog accepts protobuf only/)
  assert.equal((await sent({ preset: 'datadog', headers: { 'DD-API-KEY': 'k' } })).status, 200)
  const { forwarder_presets: presets } = await asked(world, 'GET forwarders/presets')
  assert.equal(presets.length, 7)
})

test('an endpoint with a query, a fragment or the path of a signal is refused', async () => {
  const world = stage.world()
  for (const endpoint of ['https://a.example/v1/logs', 'https://a.example/?key=1', 'https://a.example/#x', 'nothing'])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.equal((await world.admin('POST', 'forwarders', { name: aName('f'), endpoint })).status, 400, endpoint)
})

test('only a caller who may read the audit log may forward it', async () => {
  const world = stage.world()
  const { database } = world.app.deps
  const { key } = await aKeyOf(world, database, { ...(await theWorkspace(database)), role: 'developer' })
  const as = { authorization: `Bearer ${key}` }
  const body = { name: aName('f'), endpoint: receiver().url, content: ['audit'] }
  const refused = await world.admin('POST', 'forwarders', body, as)
  assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_role'])
  const { id } = await aForwarder({ content: ['audit'], enabled: false })
  const moved = await world.admin('PATCH', `forwarders/${id}`, { endpoint: 'https://evil.example' }, as)
  assert.equal(moved.status, 403)
})
