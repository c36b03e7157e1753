import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { insertCredential } from '../../src/resources/capture/credentials/queries.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aDestination, aName, anIngestKey, aRule, aWebhook, behind, post } from '../stage/fixtures.ts'
import { atGate, daysGate, type Gate } from '../stage/gates.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
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

function rows(): Promise<object> {
  return database.one(
    sql`select (select count(*) from submissions) as s, (select count(*) from records) as r, (select count(*) from deliveries) as d`,
  )
}

async function storedBy({ id }: { readonly id: string }): Promise<number> {
  const webhook = decodeId('webhook', id)
  const { stored } = await database.one<{ stored: number }>(
    sql`select count(*) as stored from submissions where webhook_id = ${webhook ?? ''}`,
  )
  return stored
}

/** A separate project, so that the rules of other tests do not apply. */
async function aProject(): Promise<World> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  return {
    ...world,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
}

/** An endpoint with a separate dataset. The test chooses whether its next event is the first to name that dataset. */
async function aWebhookOfItsOwn(isFirst: boolean): ReturnType<typeof aWebhook> {
  const webhook = await aWebhook(world, { dataset: `own${randomBytes(8).toString('hex')}` })
  if (!isFirst) await post(webhook.public_url, '{}')
  return webhook
}

/** Does `work` while an event with the key `k` has locked its key and waits for the tables. */
function whileStoring<T>(url: string, work: (here: Promise<Answer>, gate: Gate) => Promise<T>): Promise<T> {
  return atGate(database, daysGate('submissions'), async (gate) => {
    const here = send(url, '{}', 'k')
    await gate.waiting()
    return work(here, gate)
  })
}

describe('a repeat with the header Idempotency-Key', () => {
  test('a repeat gets 200 with the first answer and duplicate: true, on every form; nothing more is stored or delivered', async () => {
    const { key } = await anIngestKey(world)
    const { slug, public_url } = await aWebhook(world, { dataset: 'd' })
    await aDestination(world, { url: 'http://127.0.0.1:1/', enabled: false })
    await aRule(world, { dataset: 'ruled' })
    const urls = [
      public_url,
      `${public_url}/named`,
      ...[key, `${key}/whole`].map((path) => `${world.baseUrl}/v1/ingest/${path}`),
      `${world.baseUrl}/v1/webhooks/${key}/${slug}`,
    ]
    for (const url of urls) {
      const idempotencyKey = aKey()
      const first = await send(url, '{"a":1}', idempotencyKey)
      assert.deepEqual([first.status, first.body.duplicate, first.body.records.length], [201, false, 1])
      const had = await rows()
      for (let repeat = 0; repeat < 3; repeat += 1) {
        const again = await send(url, '{"a":1}', idempotencyKey)
        assert.equal(again.status, 200)
        assert.deepEqual(again.body, { ...first.body, duplicate: true })
        assert.deepEqual(Object.keys(again.body), Object.keys(first.body))
      }
      assert.deepEqual(await rows(), had)
    }
  })

  test('a repeat gets the `routed` of the first answer, also when no rule matched and when the rules have changed since', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const url = `${world.baseUrl}/v1/ingest/${key}`
    const none = await send(url, '{}', 'none')
    assert.deepEqual(none.body.routed, [])
    const rule = await aRule(project, { dataset: 'ruled', name: 'quoted "é"' })
    const one = await send(url, '{}', 'one')
    assert.equal(one.body.routed.length, 1)
    await project.admin('DELETE', `rules/${rule.id}`)
    assert.deepEqual((await send(url, '{}', 'none')).body, { ...none.body, duplicate: true })
    assert.deepEqual((await send(url, '{}', 'one')).body, { ...one.body, duplicate: true })
  })

  test('a repeat gets the first answer or 422, also where the current settings would refuse it', async () => {
    const project = await aProject()
    await aRule(project, { dataset: 'mine' })
    const { key } = await anIngestKey(project, { datasets: ['mine'] })
    const url = `${world.baseUrl}/v1/ingest/${key}`
    const first = await send(url, '{}', 'k')
    assert.equal(first.status, 201)
    await aRule(project, { dataset: 'theirs' })
    assert.deepEqual((await send(url, '{}', 'k')).body, { ...first.body, duplicate: true })
    assert.equal((await send(url, '{"other":1}', 'k')).status, 422)
    assert.equal((await send(url, '{}', 'another')).body.reason, 'dataset_not_allowed')
  })

  test('a repeat of a submission that met no criteria is still a repeat', async () => {
    const { public_url } = await aWebhook(world, { criteria: [{ path: 'a', equals: 2 }] })
    const first = await send(public_url, '{}', 'k')
    assert.deepEqual(first.body.records, [])
    assert.deepEqual((await send(public_url, '{}', 'k')).body, { ...first.body, duplicate: true })
  })

  test('the same key with another body gets 422 and stores nothing, and so does another path of the same credential', async () => {
    const webhook = await aWebhook(world)
    const { key } = await anIngestKey(world)
    const keyed = `${world.baseUrl}/v1/ingest/${key}`
    assert.equal((await send(webhook.public_url, '{"a":1}', 'k')).status, 201)
    assert.equal((await send(`${keyed}/whole`, '{"a":1}', 'k')).status, 201)
    const others = [
      await send(webhook.public_url, '{"a": 1}', 'k'),
      await send(`${webhook.public_url}/named`, '{"a":1}', 'k'),
      await send(keyed, '{"a":1}', 'k'),
    ]
    for (const { status, body } of others) assert.deepEqual([status, body.reason], [422, 'idempotency_key_reused'])
    assert.equal(await storedBy(webhook), 1)
    assert.equal((await send(webhook.public_url, '{"a":1}', 'k')).status, 200)
  })

  test('the same key with another credential is another event', async () => {
    const answers = await Promise.all(
      [aWebhook(world), aWebhook(world)].map(async (webhook) => send((await webhook).public_url, '{}', 'shared')),
    )
    const { key } = await anIngestKey(world)
    answers.push(await send(`${world.baseUrl}/v1/ingest/${key}/d`, '{}', 'shared'))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201],
    )
  })

  test('the same key at the new URL of an endpoint whose URL was rotated is a repeat', async () => {
    const webhook = await aWebhook(world)
    const other = 'x'.repeat(26)
    const { workspaceId, projectId } = {
      workspaceId: decodeId('workspace', world.installed.workspace.id) ?? '',
      projectId: decodeId('project', world.installed.project.id) ?? '',
    }
    await insertCredential(database, {
      hash: hashCredential(other),
      kind: 'webhook_url',
      workspaceId,
      projectId,
      subjectId: decodeId('webhook', webhook.id) ?? '',
    })
    const first = await send(webhook.public_url, '{}', 'k')
    const again = await send(webhook.public_url.replace(webhook.webhook_slug, other), '{}', 'k')
    assert.deepEqual([again.status, again.body.id], [200, first.body.id])
  })

  test('a key that is not 1 to 255 printable characters without spaces gets 400 and stores nothing', async () => {
    const webhook = await aWebhook(world)
    for (const key of ['', 'a b', 'a\tb', 'é', 'a'.repeat(256)]) {
      const { status, body } = await send(webhook.public_url, '{}', key)
      assert.deepEqual([status, body.reason], [400, 'invalid_idempotency_key'], JSON.stringify(key))
    }
    assert.equal(await storedBy(webhook), 0)
    for (const key of ['!', '~', 'a'.repeat(255), '"quoted\\"'])
      assert.equal((await send(webhook.public_url, '{}', key)).status, 201)
  })

  test('two equal requests without a key are two events', async () => {
    const webhook = await aWebhook(world)
    for (let sent = 0; sent < 2; sent += 1) assert.equal((await post(webhook.public_url, '{}')).status, 201)
    assert.equal(await storedBy(webhook), 2)
  })
})

describe('a key', () => {
  test('only a commit consumes a key: after a 503 the same request is stored', async () => {
    for (const isFirst of [true, false]) {
      const webhook = await aWebhookOfItsOwn(isFirst)
      await whileStoring(webhook.public_url, async (refused, gate) => {
        await gate.cancel()
        assert.equal((await refused).status, 503)
      })
      const had = await storedBy(webhook)
      assert.equal((await send(webhook.public_url, '{"other":1}', 'k')).status, 201)
      assert.equal((await send(webhook.public_url, '{"other":1}', 'k')).status, 200)
      assert.equal(await storedBy(webhook), had + 1)
    }
  })

  test('a key is retained for 7 days, whether or not its event was pruned, and then it is free', async () => {
    const own = await aWorld({ loops: [] })
    const db = behind(own)
    try {
      const first = await send(own.endpoint, '{}', 'k')
      own.clock.advance(7 * 86_400_000 - 1)
      assert.equal((await send(own.endpoint, '{}', 'k')).status, 200)
      own.clock.advance(1)
      const second = await send(own.endpoint, '{"other":1}', 'k')
      assert.equal(second.status, 201)
      assert.notEqual(second.body.id, first.body.id)
      assert.deepEqual((await send(own.endpoint, '{"other":1}', 'k')).body, { ...second.body, duplicate: true })
      const left = async (): Promise<number> =>
        (await db.one<{ left: number }>({ strings: ['select count(*) as left from idempotency_keys'], values: [] }))
          .left
      await runUpkeep(own.app.deps)
      assert.equal(await left(), 1)
      own.clock.advance(7 * 86_400_000)
      await runUpkeep(own.app.deps)
      assert.equal(await left(), 0)
    } finally {
      await db.close()
      await own.stop()
    }
  })

  test('no column of the table contains a key in plain text', async () => {
    const key = `clear-${randomBytes(8).toString('hex')}`
    await send(world.endpoint, '{}', key)
    const { found } = await database.one<{ found: number }>(
      sql`select count(*) as found from idempotency_keys k where k::text like ${`%${key}%`}`,
    )
    assert.equal(found, 0)
  })
})
