import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { digestOf } from '../../src/domain/capture/idempotency.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { findKeys } from '../../src/resources/capture/idempotency-keys/queries.ts'
import { aWebhook, post, submissionOf } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { atGate, daysGate } from '../stage/gates.ts'
import { whileTimePasses } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

const aKey = (): string => randomUUID()

function send(url: string, body: string, key: string): Promise<Answer> {
  return post(url, body, { headers: { 'idempotency-key': key } })
}

/** Sends to another node of the same database. */
const at = (node: World, url: string): string => url.replace(world.baseUrl, node.baseUrl)

async function storedBy({ id }: { readonly id: string }): Promise<number> {
  const webhook = decodeId('webhook', id)
  const { stored } = await database.one<{ stored: number }>(
    sql`select count(*) as stored from submissions where webhook_id = ${webhook ?? ''}`,
  )
  return stored
}

/** An endpoint with a separate dataset. The test chooses whether its next event is the first to name that dataset. */
async function aWebhookOfItsOwn(isFirst: boolean): ReturnType<typeof aWebhook> {
  const webhook = await aWebhook(world, { dataset: `own${randomBytes(8).toString('hex')}` })
  if (!isFirst) await post(webhook.public_url, '{}')
  return webhook
}

/** Does `work` while an event with the key `k` has locked its key and waits for the tables. */
function whileStoring<T>(url: string, work: (here: Promise<Answer>) => Promise<T>): Promise<T> {
  return atGate(database, daysGate('submissions'), async (gate) => {
    const here = send(url, '{}', 'k')
    await gate.waiting()
    return work(here)
  })
}

describe('equal requests at the same time', () => {
  test('a hundred equal requests over three processes are one event: one gets 201, and 99 get its answer', async () => {
    const nodes = [world, await aWorld({ beside: world }), await aWorld({ beside: world })]
    try {
      const webhook = await aWebhook(world)
      for (let round = 0; round < 5; round += 1) {
        const key = aKey()
        const sent = Array.from({ length: 100 }, (_none, n) =>
          send(at(nodes[n % 3] ?? world, webhook.public_url), '{"a":1}', key),
        )
        const answers = await whileTimePasses(nodes, Promise.all(sent))
        const [first, ...more] = answers.filter(({ status }) => status === 201)
        assert.deepEqual([more.length, answers.filter(({ status }) => status === 200).length], [0, 99])
        for (const { status, body } of answers) assert.deepEqual(body, { ...first?.body, duplicate: status === 200 })
        assert.equal(await storedBy(webhook), round + 1)
      }
    } finally {
      for (const node of nodes.slice(1)) await node.stop()
    }
  })

  test('of requests with different bodies one is stored, its equals get 200, and the others get 422', async () => {
    const webhook = await aWebhook(world)
    const key = aKey()
    const answers = await whileTimePasses(
      [world],
      Promise.all(Array.from({ length: 30 }, (_none, n) => send(webhook.public_url, `{"a":${n % 3}}`, key))),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    assert.deepEqual(statuses, [...Array<number>(9).fill(200), 201, ...Array<number>(20).fill(422)])
    assert.equal(await storedBy(webhook), 1)
  })

  test('a repeat waits for another process that is storing the event, and gets its answer', async () => {
    const beside = await aWorld({ beside: world })
    try {
      for (const isFirst of [true, false]) {
        const { public_url } = await aWebhookOfItsOwn(isFirst)
        const sent = await whileStoring(
          public_url,
          async (here) => [here, send(at(beside, public_url), '{}', 'k')] as const,
        )
        const answers = await whileTimePasses([beside], Promise.all(sent))
        assert.deepEqual(
          answers.map(({ status }) => status),
          [201, 200],
        )
        assert.equal(answers[0].body.id, answers[1].body.id)
      }
    } finally {
      await beside.stop()
    }
  })

  test('after 5 s the waiting repeat gets 409 with Retry-After: 1, and the first request is still stored', async () => {
    const beside = await aWorld({ beside: world })
    try {
      for (const isFirst of [true, false]) {
        const { public_url } = await aWebhookOfItsOwn(isFirst)
        const [first] = await whileStoring(public_url, async (here) => {
          const waitedFrom = beside.clock.now()
          const late = await whileTimePasses([beside], send(at(beside, public_url), '{}', 'k'), 100)
          assert.deepEqual(
            [late.status, late.body.reason, late.headers.get('retry-after'), late.body.retry_after],
            [409, 'idempotency_in_progress', '1', 1],
          )
          assert.ok(beside.clock.now() - waitedFrom >= 5_000)
          return [here] as const
        })
        assert.equal((await first).status, 201)
        assert.equal((await send(at(beside, public_url), '{}', 'k')).status, 200)
      }
    } finally {
      await beside.stop()
    }
  })

  test('keys that another process has locked delay no other event of their batches', async () => {
    const webhook = await aWebhook(world)
    const names = ['one', 'two', 'three', 'four']
    const { held, others } = await database.transaction(async (tx) => {
      for (const name of names) {
        const hash = digestOf([decodeId('webhook', webhook.id) ?? '', name])
        await tx.run(sql`select pg_advisory_xact_lock(('x' || left(${hash}, 16))::bit(64)::bigint)`)
      }
      const keyed = names.map((name) => send(webhook.public_url, '{}', name))
      const sent = Array.from({ length: 40 }, (_none, n) =>
        n % 2 === 0 ? post(webhook.public_url, '{}') : send(webhook.public_url, '{}', aKey()),
      )
      return { held: Promise.all(keyed), others: await Promise.all(sent) }
    })
    assert.deepEqual(
      others.filter(({ status }) => status !== 201),
      [],
    )
    assert.deepEqual(
      (await whileTimePasses([world], held)).map(({ status }) => status),
      [201, 201, 201, 201],
    )
    assert.equal(await storedBy(webhook), 44)
  })
})

test('the look-up of one key does not scan all stored keys, even when its plan was made while the table was empty', async () => {
  await database.run(sql`delete from idempotency_keys`)
  await database.run(sql`vacuum analyze idempotency_keys`)
  await database.transaction(async (tx) => {
    const scans = () => tx.one(sql`select pg_stat_get_xact_numscans('idempotency_keys_received'::regclass) as all_kept`)
    const scansBefore = await scans()
    await findKeys(tx, { keys: [{ workspace_id: randomUUID(), key_hash: '00'.repeat(32) }], since: new Date(0) })
    assert.deepEqual(await scans(), scansBefore)
  })
})

test('after a crash between the commit and the answer, a retry at any process gets the lost answer', async () => {
  let first: Promise<unknown> = Promise.resolve()
  const dying = await aWorld({
    beside: world,
    env: { LOG_LEVEL: 'silent' },
    commit: (commit) => (event) => {
      first = commit(event)
      return first.then(() => Promise.reject(new Error('died after the commit')))
    },
  })
  try {
    const webhook = await aWebhook(world)
    assert.equal((await send(at(dying, webhook.public_url), '{"a":1}', 'k')).status, 500)
    await first
    const again = await send(webhook.public_url, '{"a":1}', 'k')
    assert.deepEqual([again.status, again.body.duplicate, again.body.records.length], [200, true, 1])
    assert.equal((await submissionOf(world, again.body.id)).id, again.body.id)
    assert.equal(await storedBy(webhook), 1)
  } finally {
    await dying.stop()
  }
})
