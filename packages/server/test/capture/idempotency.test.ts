import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { digestOf } from '../../src/domain/capture/idempotency.ts'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { insertCredential } from '../../src/resources/capture/credentials/queries.ts'
import { findKeys } from '../../src/resources/capture/idempotency-keys/queries.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aDestination, aName, anIngestKey, aRule, aWebhook, behind, post, submissionOf } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { keysHeldByWaiting, lockDays, whileTimePasses } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' } },
)

const aKey = (): string => randomUUID()

function send(url: string, body: string, key: string): Promise<Answer> {
  return post(url, body, { headers: { 'idempotency-key': key } })
}

/** Sends at another node of the same database. */
const at = (node: World, url: string): string => url.replace(world.baseUrl, node.baseUrl)

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

/** A project of its own: its rules are none of the others'. */
async function aProject(): Promise<World> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  return {
    ...world,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
}

/** An endpoint with a dataset of its own, which its next event is the first to name, or not. */
async function aWebhookOfItsOwn(isFirst: boolean): ReturnType<typeof aWebhook> {
  const webhook = await aWebhook(world, { dataset: `own${randomBytes(8).toString('hex')}` })
  if (!isFirst) await post(webhook.public_url, '{}')
  return webhook
}

/** Does `work` while an event with the key `k` holds its key and waits for the tables. */
function whileStoring<T>(url: string, work: (here: Promise<Answer>) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await lockDays(tx, 'submissions')
    const here = send(url, '{}', 'k')
    await eventually(async () => ((await keysHeldByWaiting(database)) > 0 ? true : undefined))
    return work(here)
  })
}

describe('a repeat with the header Idempotency-Key', () => {
  test('is 200 with the first answer and duplicate: true, on every form; nothing more is stored or delivered', async () => {
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

  test('says `routed` as the first answer did, also when nothing matched and when the rules have changed since', async () => {
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

  test('gets the first answer, or 422, also where the settings of today would refuse it', async () => {
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

  test('is one for a submission that no criteria let through', async () => {
    const { public_url } = await aWebhook(world, { criteria: [{ path: 'a', equals: 2 }] })
    const first = await send(public_url, '{}', 'k')
    assert.deepEqual(first.body.records, [])
    assert.deepEqual((await send(public_url, '{}', 'k')).body, { ...first.body, duplicate: true })
  })

  test('with another body is 422 and stores nothing, and so with another path of the same credential', async () => {
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

  test('of another credential is another event', async () => {
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

  test('at the new URL of an endpoint whose URL was rotated is a repeat', async () => {
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

  test('with a key that is not 1 to 255 printable characters without spaces is 400 and stores nothing', async () => {
    const webhook = await aWebhook(world)
    for (const key of ['', 'a b', 'a\tb', 'é', 'a'.repeat(256)]) {
      const { status, body } = await send(webhook.public_url, '{}', key)
      assert.deepEqual([status, body.reason], [400, 'invalid_idempotency_key'], JSON.stringify(key))
    }
    assert.equal(await storedBy(webhook), 0)
    for (const key of ['!', '~', 'a'.repeat(255), '"quoted\\"'])
      assert.equal((await send(webhook.public_url, '{}', key)).status, 201)
  })

  test('without a key two equal requests are two events', async () => {
    const webhook = await aWebhook(world)
    for (let sent = 0; sent < 2; sent += 1) assert.equal((await post(webhook.public_url, '{}')).status, 201)
    assert.equal(await storedBy(webhook), 2)
  })
})

describe('a key', () => {
  test('is burnt by a commit only: after a 503 the same request is stored', async () => {
    for (const isFirst of [true, false]) {
      const webhook = await aWebhookOfItsOwn(isFirst)
      await whileStoring(webhook.public_url, async (refused) => {
        const cancel =
          "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        await eventually(async () => ((await database.run({ strings: [cancel], values: [] })) > 0 ? true : undefined))
        assert.equal((await refused).status, 503)
      })
      const had = await storedBy(webhook)
      assert.equal((await send(webhook.public_url, '{"other":1}', 'k')).status, 201)
      assert.equal((await send(webhook.public_url, '{"other":1}', 'k')).status, 200)
      assert.equal(await storedBy(webhook), had + 1)
    }
  })

  test('is kept for 7 days, whether or not it was pruned, and then it is free', async () => {
    // Upkeep runs when the test says so, and beside no other.
    const own = await aWorld({ env: { ROLES: 'web,deliver' } })
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

  test('stands in clear in no column of its table', async () => {
    const key = `clear-${randomBytes(8).toString('hex')}`
    await send(world.endpoint, '{}', key)
    const { found } = await database.one<{ found: number }>(
      sql`select count(*) as found from idempotency_keys k where k::text like ${`%${key}%`}`,
    )
    assert.equal(found, 0)
  })
})

describe('an endpoint that takes the key from its events', () => {
  test('from a header: a repeat is a duplicate whatever its body; without the header there is no key', async () => {
    const webhook = await aWebhook(world, { idempotency: { header: 'X-GitHub-Delivery' } })
    const deliver = (body: string, id?: string): Promise<Answer> =>
      post(webhook.public_url, body, id === undefined ? {} : { headers: { 'x-github-delivery': id } })
    const first = await deliver('{"a":1}', 'one')
    assert.deepEqual([first.status, webhook.idempotency], [201, { header: 'X-GitHub-Delivery' }])
    assert.deepEqual((await deliver('{"b":2}', 'one')).body, { ...first.body, duplicate: true })
    assert.equal((await deliver('{"a":1}', 'two with spaces '.repeat(20))).status, 201)
    assert.deepEqual(
      [(await deliver('{}')).status, (await deliver('{}')).status, (await deliver('{}', '')).status],
      [201, 201, 201],
    )
    assert.equal(await storedBy(webhook), 5)
  })

  test('from the payload: text, or a number digit for digit; anything else is no key', async () => {
    const webhook = await aWebhook(world, { idempotency: { path: 'data.id' } })
    const deliver = async (id: string): Promise<number> =>
      (await post(webhook.public_url, `{"data":{"id":${id}},"at":"${aKey()}"}`)).status
    for (const id of ['"evt_1"', '7', '12345678901234567890', '12345678901234567891', '1.50']) {
      assert.deepEqual([await deliver(id), await deliver(id)], [201, 200], id)
    }
    for (const none of ['null', 'true', '""', '" "', '{}', '["a"]'])
      assert.deepEqual([await deliver(none), await deliver(none)], [201, 201], none)
    assert.equal((await post(webhook.public_url, '[]')).status, 201)
  })

  test('the header Idempotency-Key counts where it finds no key of its own, and only there', async () => {
    const webhook = await aWebhook(world, { idempotency: { path: 'id' } })
    const statuses: number[] = []
    for (const [body, key] of [
      ['{}', 'k'],
      ['{}', 'k'],
      ['{"a":1}', 'k'],
      ['{"id":1}', 'k'],
      ['{"id":1,"b":1}', 'other'],
    ] as const)
      statuses.push((await send(webhook.public_url, body, key)).status)
    assert.deepEqual(statuses, [201, 200, 422, 201, 200])
  })

  test('the same number at two endpoints of one ingest key is two events', async () => {
    const { key } = await anIngestKey(world)
    const [one, two] = await Promise.all([
      aWebhook(world, { idempotency: { path: 'id' } }),
      aWebhook(world, { idempotency: { path: 'id' } }),
    ])
    const deliver = async (slug: string): Promise<number> =>
      (await post(`${world.baseUrl}/v1/webhooks/${key}/${slug}`, '{"id":1}')).status
    assert.deepEqual(
      [await deliver(one.slug), await deliver(two.slug), await deliver(one.slug), await deliver(two.slug)],
      [201, 201, 200, 200],
    )
  })

  test('is switched on and off by PATCH at once, and a change of other members keeps it', async () => {
    const { id, public_url, idempotency } = await aWebhook(world)
    const patch = async (members: object): Promise<unknown> =>
      (await world.admin('PATCH', `webhooks/${id}`, members)).body.webhook.idempotency
    assert.equal(idempotency, null)
    assert.deepEqual(await patch({ idempotency: { path: 'id' } }), { path: 'id' })
    assert.deepEqual(
      [(await post(public_url, '{"id":1}')).status, (await post(public_url, '{"id":1}')).status],
      [201, 200],
    )
    assert.deepEqual(await patch({ name: aName('renamed') }), { path: 'id' })
    assert.deepEqual((await world.admin('GET', `webhooks/${id}`)).body.webhook.idempotency, { path: 'id' })
    assert.equal(await patch({ idempotency: null }), null)
    assert.equal((await post(public_url, '{"id":1}')).status, 201)
  })

  test('a setting that is not one is 400 and says what one looks like', async () => {
    const { id } = await aWebhook(world)
    for (const idempotency of [
      {},
      { header: 'a b' },
      { header: '' },
      { path: '' },
      { path: 'a..b' },
      { header: 'X', path: 'id' },
      { other: 'x' },
      'id',
      true,
    ]) {
      for (const answer of [
        await world.admin('PATCH', `webhooks/${id}`, { idempotency }),
        await world.admin('POST', 'webhooks', { name: aName('w'), idempotency }),
      ]) {
        assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(idempotency))
        assert.match(answer.body.error, /idempotency/)
      }
    }
  })
})

describe('equal requests at the same time', () => {
  test('a hundred over three processes are one event: one 201, and 99 times its answer', async () => {
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

  test('with different bodies: one is stored, its equals are 200, the others 422', async () => {
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

  test('what another process is storing is waited for, and its answer given', async () => {
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

  test('after 5 s the one that waits is 409 with Retry-After: 1, and the first one is stored all the same', async () => {
    const beside = await aWorld({ beside: world })
    try {
      for (const isFirst of [true, false]) {
        const { public_url } = await aWebhookOfItsOwn(isFirst)
        const [first] = await whileStoring(public_url, async (here) => {
          let second: Answer | undefined
          const waitedFrom = beside.clock.now()
          void send(at(beside, public_url), '{}', 'k').then((answer) => (second = answer))
          const late = await eventually(async () => {
            if (second === undefined) beside.clock.advance(100)
            return second
          })
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

  test('keys that another process holds keep no other event of their batches waiting', async () => {
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

test('a key is looked up by itself and not among all that are kept, also when its plan was made while there were none', async () => {
  await database.run(sql`delete from idempotency_keys`)
  await database.run(sql`vacuum analyze idempotency_keys`)
  await database.transaction(async (tx) => {
    const scans = () => tx.one(sql`select pg_stat_get_xact_numscans('idempotency_keys_received'::regclass) as all_kept`)
    const scansBefore = await scans()
    await findKeys(tx, { keys: [{ workspace_id: randomUUID(), key_hash: '00'.repeat(32) }], since: new Date(0) })
    assert.deepEqual(await scans(), scansBefore)
  })
})

test('after a crash between the commit and the answer a retry gets the answer that was lost, at any process', async () => {
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
