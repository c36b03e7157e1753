import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aDestination, aName, anIngestKey, aRule, aWebhook, post, submissionOf } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The destinations of a record, and the reasons that the answer gives (decisions on the decision trace). */
let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: [] },
)

/** A separate project, so that rules and destinations of other tests do not apply. */
async function aProject(): Promise<World & { readonly id: string }> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  return {
    ...world,
    id: body.project.id,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
}

async function decisionOf(project: World, answer: Answer): Promise<Answer['body']> {
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return (await submissionOf(project, answer.body.id)).decision
}

describe('destinations: each record considers each destination, and the decision gives the reason', () => {
  test('matched, dataset_not_subscribed, condition_failed and destination_disabled', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const all = await aDestination(project, { name: 'all', url: sink.url })
    const other = await aDestination(project, { name: 'other', url: sink.url, datasets: ['elsewhere'] })
    const picky = await aDestination(project, {
      name: 'picky',
      url: sink.url,
      datasets: ['orders'],
      conditions: [{ path: 'total', op: 'lt', value: 5 }],
    })
    const off = await aDestination(project, { name: 'off', url: sink.url, enabled: false })
    const answer = await post(`${world.baseUrl}/v1/ingest/${key}/orders`, '{"total":"7"}')
    const recordId = answer.body.records[0].id
    const { destinations } = await decisionOf(project, answer)
    const by = new Map<string, Answer['body']>(
      destinations.map((one: { destination_id: string }) => [one.destination_id, one]),
    )
    const expected = (made: typeof all, rest: object) => ({
      destination_id: made.destination.id,
      destination: made.destination.name,
      record_id: recordId,
      failed: null,
      ...rest,
    })
    assert.deepEqual(by.get(all.destination.id), expected(all, { matched: true, reason: 'matched' }))
    assert.deepEqual(
      by.get(other.destination.id),
      expected(other, { matched: false, reason: 'dataset_not_subscribed' }),
    )
    assert.deepEqual(
      by.get(picky.destination.id),
      expected(picky, {
        matched: false,
        reason: 'condition_failed',
        failed: { index: 0, path: 'total', op: 'lt', expected: 5, saw: '7' },
      }),
    )
    assert.deepEqual(by.get(off.destination.id), expected(off, { matched: true, reason: 'destination_disabled' }))
    const { body } = await project.admin('GET', `deliveries?record_id=${recordId}`)
    const states = new Map(
      body.deliveries.map((one: Answer['body']) => [one.destination_id, [one.state === 'paused', one.pause_reason]]),
    )
    assert.deepEqual(new Set(states.keys()), new Set([all.destination.id, off.destination.id]))
    assert.deepEqual(states.get(off.destination.id), [true, 'destination_disabled'])
  })

  test('conditions of a destination see the record as mapped, not the payload', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, { mappings: [{ target: 'kind', path: 'type' }] })
    const mapped = await aDestination(project, {
      url: `${sink.url}mapped`,
      conditions: [{ path: 'kind', equals: 'a' }],
    })
    const raw = await aDestination(project, { url: `${sink.url}raw`, conditions: [{ path: 'type', equals: 'a' }] })
    const { destinations } = await decisionOf(project, await post(public_url, '{"type":"a"}'))
    const reasonOf = (id: string): string =>
      destinations.find((one: Answer['body']) => one.destination_id === id).reason
    assert.deepEqual([reasonOf(mapped.destination.id), reasonOf(raw.destination.id)], ['matched', 'condition_failed'])
  })

  test('each record of a submission is considered separately', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    await aRule(project, { name: 'one', dataset: 'one' })
    await aRule(project, { name: 'two', dataset: 'two' })
    const made = await aDestination(project, { url: `${sink.url}two`, datasets: ['two'] })
    const answer = await post(`${world.baseUrl}/v1/ingest/${key}`, '{}')
    const { destinations } = await decisionOf(project, answer)
    assert.deepEqual(destinations.map((one: Answer['body']) => one.reason).toSorted(), [
      'dataset_not_subscribed',
      'matched',
    ])
    const twoId = answer.body.records.find((record: { dataset: string }) => record.dataset === 'two').id
    await world.idle()
    const received = sink.received.find(({ path }) => path === '/two')
    assert.ok(received !== undefined, 'it was delivered')
    assert.equal(received.headers['service-event-id'], twoId)
    assert.equal(received.headers['service-dataset'], 'two')
    assert.equal(
      (await project.admin('GET', `deliveries?destination_id=${made.destination.id}`)).body.deliveries.length,
      1,
    )
  })
})

describe('conditions of rules and criteria compare as text', () => {
  const cases: readonly (readonly [string, object, string, boolean])[] = [
    ['a number equals its text', { path: 'v', equals: '5' }, '{"v":5}', true],
    ['text equals the number', { path: 'v', equals: 5 }, '{"v":"5"}', true],
    ['true equals "true"', { path: 'v', equals: 'true' }, '{"v":true}', true],
    ['not_equals matches a missing field', { path: 'v', op: 'not_equals', value: 'x' }, '{}', true],
    [
      'a number beyond 2^53 does not equal the next number',
      { path: 'v', equals: '12345678901234567890' },
      '{"v":12345678901234567891}',
      false,
    ],
    [
      'a number beyond 2^53 equals its own digits',
      { path: 'v', equals: '12345678901234567890' },
      '{"v":12345678901234567890}',
      true,
    ],
    ['gt matches a plain decimal in text after trimming', { path: 'v', op: 'gt', value: 1 }, '{"v":" 1.5 "}', true],
    ['gt never matches hex', { path: 'v', op: 'gt', value: 1 }, '{"v":"0x10"}', false],
    ['gt never matches an exponent in text', { path: 'v', op: 'gt', value: 1 }, '{"v":"1e3"}', false],
    ['gt never matches empty text', { path: 'v', op: 'gte', value: 0 }, '{"v":""}', false],
    ['contains finds text', { path: 'v', op: 'contains', value: 'ell' }, '{"v":"hello"}', true],
    [
      'regex sees the first 256 characters only',
      { path: 'v', op: 'regex', value: 'z$' },
      JSON.stringify({ v: `${'a'.repeat(256)}z` }),
      false,
    ],
    [
      'regex matches within them',
      { path: 'v', op: 'regex', value: '^a+z' },
      JSON.stringify({ v: `${'a'.repeat(200)}z` }),
      true,
    ],
    ['regex may look ahead', { path: 'v', op: 'regex', value: '^(?!test_)(?=.*paid)' }, '{"v":"order.paid"}', true],
    ['regex may refuse ahead', { path: 'v', op: 'regex', value: '^(?!test_)(?=.*paid)' }, '{"v":"test_paid"}', false],
    ['regex may look behind', { path: 'v', op: 'regex', value: '(?<=order\\.)(?<!x)paid' }, '{"v":"order.paid"}', true],
    ['regex may count beyond 1,000', { path: 'v', op: 'regex', value: '^(?:ab){1,5000}$' }, '{"v":"abab"}', true],
    ['the empty regex matches any text', { path: 'v', op: 'regex', value: '' }, '{"v":"anything"}', true],
    ['the empty regex matches text only', { path: 'v', op: 'regex', value: '' }, '{"v":5}', false],
    ['regex is case sensitive', { path: 'v', op: 'regex', value: 'paid' }, '{"v":"PAID"}', false],
    ['exists matches null', { path: 'v', op: 'exists' }, '{"v":null}', true],
    ['a literal dot is written with a backslash', { path: 'a\\.b', equals: 'x' }, '{"a.b":"x"}', true],
    ['a list step is a number', { path: 'v.1', equals: 'b' }, '{"v":["a","b"]}', true],
    ['__proto__ is only a key', { path: '__proto__.toString', op: 'exists' }, '{}', false],
    ['a duplicate key is its last', { path: 'v', equals: '2' }, '{"v":1,"v":2}', true],
  ]
  for (const [name, condition, payload, holds] of cases) {
    test(name, async () => {
      const { public_url } = await aWebhook(world, { criteria: [condition] })
      const answer = await post(public_url, payload)
      assert.equal(answer.body.records.length, holds ? 1 : 0)
    })
  }
})
