import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aName, anIngestKey, aRule, aWebhook, filedText, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { logged } from '../stage/rejection-log.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * One limit bounds all records of an event together (decisions §4, "Rejections"): an event is filed whole or refused
 * whole.
 */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const MiB = 1_048_576
const copies = (count: number, more: object = {}): object[] =>
  Array.from({ length: count }, (_, index) => ({ target: `t${index}`, path: 'a', ...more }))
const ofChars = (count: number): string => JSON.stringify({ a: 'x'.repeat(count) })

function refused(answer: Answer): void {
  assert.deepEqual([answer.status, answer.body.reason], [413, 'records_too_large'])
  assert.match(answer.body.error, /8 MiB in total, so nothing was stored\. Send a smaller event/)
}

test('an event that mappings expand to more than 8 MiB is refused before anything is stored', async () => {
  const { id, public_url } = await aWebhook(world, { mappings: copies(9) })
  refused(await post(public_url, ofChars(MiB - 100)))
  const { body } = await world.admin('GET', `submissions?webhook_id=${id}`)
  assert.deepEqual(body.submissions, [])
  const [row] = await logged(world, 1, { webhook_id: id })
  assert.deepEqual([row?.reason, row?.status], ['records_too_large', 413])
  const smaller = await post(public_url, ofChars(800_000))
  assert.equal(smaller.status, 201)
  assert.equal((await filedText(world, smaller)).length, 9 * '"t0":"",'.length + 9 * 800_000 + 1)
})

test('each transform of a path runs once, and its result counts', async () => {
  const text = JSON.stringify({ a: JSON.stringify(Array.from({ length: 200_000 }, () => [])) })
  for (const transform of ['json', 'string', 'uppercase', 'trim']) {
    const { public_url } = await aWebhook(world, { mappings: copies(200, { transform }) })
    refused(await post(public_url, text))
    assert.equal((await post(public_url, '{"a":"[1]"}')).status, 201)
  }
})

test('the records of all rules count together; records that are the unchanged body do not count', async () => {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  const project: World = {
    ...world,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
  const { key } = await anIngestKey(project)
  for (let rule = 0; rule < 9; rule += 1) await aRule(project)
  const whole = await post(`${world.baseUrl}/v1/ingest/${key}`, ofChars(MiB - 100))
  assert.deepEqual([whole.status, whole.body.records.length], [201, 9])
  for (let rule = 0; rule < 3; rule += 1) await aRule(project, { mappings: copies(3) })
  refused(await post(`${world.baseUrl}/v1/ingest/${key}`, ofChars(MiB - 100)))
  assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}`, ofChars(MiB / 2))).status, 201)
})

test('constants and the empty places of lists count too', async () => {
  const holes = Array.from({ length: 200 }, (_, index) => ({ target: `t${index}${'.199'.repeat(60)}`, path: 'a' }))
  refused(await post((await aWebhook(world, { mappings: holes })).public_url, '{"a":1}'))
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  const project: World = {
    ...world,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
  const { key } = await anIngestKey(project)
  for (let rule = 0; rule < 9; rule += 1)
    await aRule(project, { mappings: [{ target: 'big', value: 'x'.repeat(1_000_000) }] })
  refused(await post(`${world.baseUrl}/v1/ingest/${key}`, '{}'))
})

test('an event whose rules and destinations would have more than 20,000 reasons in its decision is refused', async () => {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  const at = `projects/${body.project.id}`
  const project: World = { ...world, admin: (method, path, ...rest) => world.admin(method, `${at}/${path}`, ...rest) }
  const { key } = await anIngestKey(project)
  const rules = Array.from({ length: 150 }, (_, index) => ({ name: `rule ${index}`, dataset: 'routed' }))
  const destinations = Array.from({ length: 133 }, (_, index) => ({
    name: `destination ${index}`,
    sink: true,
    datasets: ['other'],
  }))
  const applied = await project.admin('POST', 'config/apply', { config: { version: 1, rules, destinations } })
  assert.equal(applied.status, 200, JSON.stringify(applied.body))
  const answer = await post(`${world.baseUrl}/v1/ingest/${key}`, '{}')
  assert.deepEqual([answer.status, answer.body.reason], [413, 'records_too_large'])
  assert.match(
    answer.body.error,
    /150 records.* more than 20000 reasons, so nothing was stored\. Send fewer items at once, turn off rules/,
  )
  assert.deepEqual((await project.admin('GET', 'submissions')).body.submissions, [])
  assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}/routed`, '{}')).status, 201)
})
