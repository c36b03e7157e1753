import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The records listing shows the whole flattened payload of each record. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

type Column = { readonly key: string; readonly label: string }
const keysOf = (columns: readonly Column[]): string[] => columns.map(({ key }) => key)

const recordsOf = (webhook: { id: string }, query = ''): Promise<Answer> =>
  world.admin('GET', `webhooks/${webhook.id}/records${query}`)

/** An endpoint that has received these payloads, the last one newest. */
async function received(payloads: readonly unknown[], members: object = {}): Promise<Answer['body']> {
  const webhook = await aWebhook(world, { ...members })
  for (const payload of payloads) assert.equal((await post(webhook.public_url, JSON.stringify(payload))).status, 201)
  return webhook
}

async function aView(webhook: { id: string }, members: object): Promise<Answer['body']> {
  const answer = await world.admin('POST', `webhooks/${webhook.id}/views`, { name: 'view', ...members })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.view
}

describe('the whole flattened payload', () => {
  test('the listing has every column, however many there are and however long their keys are', async () => {
    const long = 'k'.repeat(300)
    const webhook = await received([{ ...Object.fromEntries(numbers(800).map((at) => [`c${at}`, at])), [long]: 1 }])
    const { body } = await recordsOf(webhook)
    assert.deepEqual([Object.keys(body.rows[0]).length, body.columns.length], [804, 801])
    const view = await aView(webhook, { columns: [{ key: long }, { key: 'c799' }], sort_key: long })
    const { rows } = (await recordsOf(webhook, `?view=${view.id}`)).body
    assert.deepEqual([rows[0][long], rows[0].c799], [1, 799])
  })

  test('the listing has the keys _id, _received_at and _source of the payload itself, and a view shows them and sorts by them', async () => {
    const webhook = await received([{ _id: 2, _received_at: 'then', _source: null }, { _id: 1 }])
    const { body } = await recordsOf(webhook)
    assert.deepEqual(keysOf(body.columns), ['\\_id', '\\_received_at', '\\_source'])
    assert.match(body.rows[1]['_id'], /^rec_/)
    assert.deepEqual(
      [body.rows[1]['\\_id'], body.rows[1]['\\_received_at'], body.rows[1]['\\_source']],
      [2, 'then', null],
    )
    const view = await aView(webhook, { columns: [{ key: '\\_id' }, { key: '_source' }], sort_key: '\\_id' })
    assert.deepEqual(
      (await recordsOf(webhook, `?view=${view.id}`)).body.rows.map((row: Answer['body']) => [
        row['\\_id'],
        row['_source'],
      ]),
      [
        [1, 'endpoint_url'],
        [2, 'endpoint_url'],
      ],
    )
  })

  test('a view shows and sorts by every discovered column: dots, backslashes, empty keys, lists and 128 levels', async () => {
    const deep = `${'{"a.":'.repeat(127)}3${'}'.repeat(127)}`
    const webhook = await aWebhook(world)
    for (const n of [2, 1])
      await post(webhook.public_url, `{"":${n},"a.b":{"":${n},"\\\\":[[{"x":${n}}]]},"deep":${deep}}`)
    const keys = keysOf((await recordsOf(webhook)).body.columns)
    assert.equal(keys.length, 4)
    for (const [at, key] of keys.entries()) {
      const view = await aView(webhook, { name: `v${at}`, columns: [{ key }], sort_key: key })
      const { rows } = (await recordsOf(webhook, `?view=${view.id}`)).body
      assert.deepEqual(
        rows.map((row: Answer['body']) => row[key]),
        key.startsWith('deep') ? [3, 3] : [1, 2],
        key,
      )
    }
  })

  test('the answer names the records that do not fit into it, and contains the other records whole', async () => {
    const webhook = await aWebhook(world)
    const first = await post(webhook.public_url, '{"small":1}')
    const long = await post(webhook.public_url, wide(5_000))
    await post(webhook.public_url, wide(2))
    const { body } = await recordsOf(webhook)
    assert.deepEqual(body.left_out, [long.body.records[0].id])
    assert.deepEqual([body.count, body.rows[1]['_id'], body.columns_complete], [2, first.body.records[0].id, false])
    assert.deepEqual(keysOf(body.columns), [`${'k'.repeat(5_000)}.0`, `${'k'.repeat(5_000)}.1`, 'small'])
    const view = await aView(webhook, { columns: [{ key: 'small' }] })
    assert.deepEqual((await recordsOf(webhook, `?view=${view.id}`)).body.left_out, [])
  })
})

const wide = (count: number): string => JSON.stringify({ ['k'.repeat(5_000)]: numbers(count) })
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
