import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeId, ID_PREFIXES } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { aDestination, aName, anIngestKey, aRule, aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import { aRunOf } from '../stage/ai-stage.ts'
import { aSink, aWorld, type Answer, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** `search/correlate/{id}` accepts any id on the way of an event and returns the whole story (decisions on search). */
let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: [] },
)

async function aProject(): Promise<World & { readonly id: string }> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  return {
    ...world,
    id: body.project.id,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
}

async function storyOf(project: World, id: string): Promise<Answer['body']> {
  const { status, body } = await project.admin('GET', `search/correlate/${id}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** The story once every delivery has ended. */
async function ended(project: World, id: string): Promise<Answer['body']> {
  await project.idle()
  const story = await storyOf(project, id)
  assert.ok(story.deliveries.every((delivery: Answer['body']) => delivery.ended_at !== null))
  return story
}

test('the story of one event: submission, record, delivery and attempts, each with its times', async () => {
  const project = await aProject()
  const secret = 'correct horse battery'
  const webhook = await aWebhook(project, { dataset: 'orders', verification: { scheme: 'code_host', secret } })
  const { destination } = await aDestination(project, { url: sink.url })
  const body = '{"n":1}'
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const accepted = await post(webhook.public_url, body, {
    headers: { 'X-Hub-Signature-256': signature, 'X-Mine': 'yes' },
  })
  const story = await ended(project, accepted.body.id)
  const at = '2026-01-15T12:00:00.000Z'

  const { submission } = story
  assert.deepEqual(
    [submission.id, submission.webhook_id, submission.received_at, submission.verified_scheme],
    [accepted.body.id, webhook.id, at, 'code_host'],
  )
  assert.deepEqual([submission.source_ip, submission.body_bytes, submission.headers['x-mine']], ['127.0.0.1', 7, 'yes'])
  assert.equal(submission.decision.criteria.matched, true)
  assert.ok(!('body' in submission))

  const [record] = accepted.body.records
  assert.deepEqual(story.records, [{ id: record.id, dataset: 'orders', submission_id: submission.id, received_at: at }])

  const [delivery] = story.deliveries
  assert.equal(story.deliveries.length, 1)
  assert.deepEqual(
    [delivery.record_id, delivery.destination_id, delivery.state, delivery.attempt_count],
    [record.id, destination.id, 'delivered', 1],
  )
  assert.deepEqual([delivery.created_at, delivery.ended_at, delivery.duration_ms], [at, at, 0])

  const [attempt] = delivery.attempts
  assert.deepEqual(
    [delivery.attempts.length, attempt.delivery_id, attempt.outcome, attempt.response_status],
    [1, delivery.id, 'succeeded', 200],
  )
  assert.ok(attempt.duration_ms >= 0)
  assert.equal(Date.parse(attempt.ended_at), Date.parse(attempt.started_at) + attempt.duration_ms)

  assert.equal(story.truncated, false)
  assert.deepEqual(
    story.timeline.map(({ kind, id, parent_id, state }: Answer['body']) => [kind, id, parent_id, state]),
    [
      ['submission', submission.id, null, 'accepted'],
      ['record', record.id, submission.id, 'filed'],
      ['delivery', delivery.id, record.id, 'delivered'],
      ['attempt', attempt.id, delivery.id, 'succeeded'],
    ],
  )
  for (const moment of story.timeline) {
    assert.deepEqual(Object.keys(moment), ['kind', 'id', 'parent_id', 'at', 'ended_at', 'duration_ms', 'state'])
    assert.equal(Date.parse(moment.ended_at), Date.parse(moment.at) + moment.duration_ms)
  }
})

test('every id on the way leads to the same story', async () => {
  const project = await aProject()
  const { key } = await anIngestKey(project)
  for (const dataset of ['one', 'two']) await aRule(project, { dataset })
  await aRule(project, { dataset: 'never', conditions: [{ path: 'x', op: 'exists' }] })
  await aDestination(project, { url: sink.url })
  await aDestination(project, { url: sink.url, datasets: ['one'] })
  const accepted = await post(`${world.baseUrl}/v1/ingest/${key}`, '{}')
  await post(`${world.baseUrl}/v1/ingest/${key}`, '{"another":1}')
  const { id: _, ...story } = await ended(project, accepted.body.id)
  assert.deepEqual([story.records.length, story.deliveries.length, story.timeline.length], [2, 3, 9])
  assert.deepEqual(
    story.submission.decision.rules.map((rule: Answer['body']) => rule.matched),
    [true, true, false],
  )
  const ids: string[] = story.timeline.map((moment: Answer['body']) => moment.id)
  assert.deepEqual(new Set(ids.map((id) => id.slice(0, 3))), new Set(['sub', 'rec', 'dlv', 'att']))
  for (const id of ids) {
    const kind = { sub: 'submission', rec: 'record', dlv: 'delivery', att: 'attempt' }[id.slice(0, 3)]
    assert.deepEqual(await storyOf(project, id), { id, ...story, subject: { kind, id, name: null } })
  }
})

test('an event that met no criteria has a story too', async () => {
  const project = await aProject()
  const webhook = await aWebhook(project, { criteria: [{ path: 'a', equals: 1 }] })
  const accepted = await post(webhook.public_url, '{"a":2}')
  const story = await storyOf(project, accepted.body.id)
  assert.deepEqual([story.records, story.deliveries, story.timeline.length], [[], [], 1])
  assert.deepEqual(story.submission.decision.criteria.failed, {
    index: 0,
    path: 'a',
    op: 'equals',
    expected: 1,
    saw: 2,
  })
  assert.equal(story.submission.verified_scheme, 'none')
})

test('a failed attempt and the next one are in the order of time; the story reports parts that have not ended', async () => {
  const own = await aWorld({ loops: [] })
  const flaky = await aSink()
  try {
    flaky.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
    await aDestination(own, { url: flaky.url, retry: { schedule_seconds: [0, 60] } })
    const accepted = await post(own.endpoint, '{}')
    await own.idle()
    const [delivery] = (await storyOf(own, accepted.body.id)).deliveries
    assert.equal(delivery.state, 'retrying')
    assert.deepEqual(
      [delivery.ended_at, delivery.duration_ms, delivery.attempts[0].outcome, delivery.attempts[0].error_code],
      [null, null, 'failed', 'bad_status'],
    )
    own.clock.advance(120_000)
    const done = await ended(own, accepted.body.id)
    assert.deepEqual(
      done.timeline.filter(({ kind }: Answer['body']) => kind === 'attempt').map(({ state }: Answer['body']) => state),
      ['failed', 'succeeded'],
    )
    assert.ok(done.deliveries[0].duration_ms >= 120_000)
    assert.deepEqual(
      done.timeline.map((moment: Answer['body']) => moment.at),
      done.timeline.map((moment: Answer['body']) => String(moment.at)).toSorted(),
    )
  } finally {
    await own.stop()
    await flaky.stop()
  }
})

test('a story of more than 200 deliveries or 1,000 attempts reports that it is cut, and has the first ones', async () => {
  const project = await aProject()
  const { key } = await anIngestKey(project)
  const { body } = await post(`${world.baseUrl}/v1/ingest/${key}/inbox`, '{}')
  const record = decodeId('record', body.records[0].id) ?? ''
  const database = behind(world)
  const made = new Date(world.clock.now())
  const deliveries = (count: number) =>
    database.run(sql`
    insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, created_at, updated_at)
    select workspace_id, project_id, gen_random_uuid(), id, gen_random_uuid(), 'delivered', ${made}, ${made} from records, generate_series(1, ${count}::int) where id = ${record}
  `)
  const attempts = (count: number) =>
    database.run(sql`
    insert into delivery_attempts (workspace_id, project_id, id, delivery_id, destination_id, number, trigger, fence, started_at, outcome)
    select workspace_id, project_id, gen_random_uuid(), id, destination_id, n, 'initial', 1, ${made}, 'failed'
      from (select * from deliveries where record_id = ${record} order by id limit 1) d, generate_series(1, ${count}::int) n
  `)
  const counted = async (): Promise<unknown[]> => {
    const story = await storyOf(project, body.id)
    const tried: Answer['body'][] = story.deliveries.flatMap((delivery: Answer['body']) => delivery.attempts)
    assert.equal(story.timeline.length, 2 + story.deliveries.length + tried.length)
    return [story.truncated, story.deliveries.length, tried.length]
  }
  try {
    await deliveries(1)
    await attempts(1_000)
    assert.deepEqual(await counted(), [false, 1, 1_000])
    await attempts(1)
    assert.deepEqual(await counted(), [true, 1, 1_000])
    await database.run(
      sql`delete from delivery_attempts where delivery_id in (select id from deliveries where record_id = ${record})`,
    )
    await deliveries(199)
    assert.deepEqual(await counted(), [false, 200, 0])
    await deliveries(1)
    assert.deepEqual(await counted(), [true, 200, 0])
  } finally {
    await database.close()
  }
})

describe('a Request-Id of ingest', () => {
  test('a Request-Id leads to the story of its submission, and so does the separate Request-Id of a repeat', async () => {
    const project = await aProject()
    const webhook = await aWebhook(project)
    const once = { headers: { 'idempotency-key': 'once' } }
    const [first, second] = [await post(webhook.public_url, '{}', once), await post(webhook.public_url, '{}', once)]
    assert.deepEqual([first.status, second.status], [201, 200])
    const ids = [first, second].map(({ headers }) => headers.get('request-id') ?? '')
    assert.notEqual(ids[0], ids[1])
    const { id: _, subject: __, ...story } = await storyOf(project, first.body.records[0].id)
    for (const id of ids) {
      const subject = { kind: 'submission', id: first.body.id, name: null }
      assert.deepEqual(await storyOf(project, id), { id, subject, ...story })
    }
  })

  test('a Request-Id leads to the reason why its request was refused, as the id of the rejection does', async () => {
    const project = await aProject()
    const webhook = await aWebhook(project)
    const answers = [await post(webhook.public_url, '{'), await post(webhook.public_url, '{')]
    const ids = answers.map(({ headers }) => headers.get('request-id') ?? '')
    assert.equal(new Set(ids).size, 2)
    await world.run('rejections.flush')
    const [rejection] = (await project.admin('GET', 'rejections')).body.rejections
    assert.equal(rejection.count, 2)
    for (const id of [rejection.id, ...ids]) {
      const story = await storyOf(project, id)
      assert.deepEqual(story.subject, { kind: 'rejection', id: rejection.id, name: null })
      assert.deepEqual([story.submission, story.rejection, story.records], [null, rejection, []])
      assert.deepEqual(story.timeline, [
        {
          kind: 'rejection',
          id: rejection.id,
          parent_id: null,
          at: rejection.at,
          ended_at: rejection.at,
          duration_ms: 0,
          state: 'invalid_body',
        },
      ])
    }
  })

  test('the Request-Id of a request that stored nothing leads nowhere', async () => {
    const unknown = await post(`${world.endpoint}x`, '{}')
    const admin = await world.admin('GET', 'webhooks')
    for (const { headers } of [unknown, admin]) {
      const answer = await world.admin('GET', `search/correlate/${headers.get('request-id')}`)
      assert.deepEqual([answer.status, answer.body.reason], [404, 'not_found'])
    }
  })
})

describe('the id of a configured resource', () => {
  test('the answer names the resource and lists its newest events', async () => {
    const project = await aProject()
    const webhook = await aWebhook(project, { name: 'Shop', dataset: 'shop' })
    const { view } = (
      await project.admin('POST', `webhooks/${webhook.id}/views`, { name: 'View', columns: [{ key: 'a' }] })
    ).body
    const { id: keyId, key } = await anIngestKey(project, { name: 'Key' })
    const rule = await aRule(project, { name: 'Rule', dataset: 'ruled' })
    const { destination } = await aDestination(project, { name: 'Sink', url: sink.url, datasets: ['ruled'] })
    const ofWebhook = await post(webhook.public_url, '{"a":1}')
    const ofRule = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"a":2}')
    const ofKey = await post(`${world.baseUrl}/v1/ingest/${key}/ruled`, '{"a":3}')
    const [shop, ruled, keyed] = [ofWebhook, ofRule, ofKey].map(({ body }) => body.records[0].id)
    await ended(project, ofRule.body.id)
    await ended(project, ofKey.body.id)
    const { replay } = (
      await project.admin('POST', 'deliveries/replays', {
        filter: { state: ['delivered'], destination_id: destination.id },
      })
    ).body
    const { datasets } = (await project.admin('GET', 'datasets')).body
    const dataset = datasets.find(({ name }: { name: string }) => name === 'ruled')
    const expected: readonly [string, string, string | null, string[]][] = [
      ['webhook', webhook.id, 'Shop', [shop]],
      ['recordView', view.id, 'View', [shop]],
      ['dataset', dataset.id, 'ruled', [ruled, keyed]],
      ['rule', rule.id, 'Rule', [ruled]],
      ['ingestKey', keyId, 'Key', [ruled, keyed]],
      ['destination', destination.id, 'Sink', [ruled, keyed]],
      ['replay', replay.id, null, [ruled, keyed]],
      ['project', project.id, null, [shop, ruled, keyed]],
    ]
    for (const [kind, id, name, records] of expected) {
      const story = await storyOf(project, id)
      assert.deepEqual(story.subject, { kind, id, name })
      assert.deepEqual([story.submission, story.rejection, story.truncated], [null, null, false], kind)
      assert.deepEqual(
        story.records.map((record: Answer['body']) => record.id),
        records,
        kind,
      )
      assert.equal(story.deliveries.length, records.filter((record) => record !== shop).length, kind)
      assert.ok(
        story.deliveries.every((delivery: Answer['body']) => delivery.attempts.length > 0),
        kind,
      )
    }
    const other = await aProject()
    for (const [kind, id] of expected) {
      const answer = await other.admin('GET', `search/correlate/${id}`)
      assert.deepEqual([answer.status, answer.body.reason], [404, 'not_found'], kind)
    }
  })

  test('the id of an AI run, its agent or its trigger leads to the record and to its runs', async () => {
    const project = await aProject()
    const run = await aRunOf({ ...project, baseUrl: world.baseUrl })
    const { ai_run } = (await project.admin('GET', `ai-runs/${run}`)).body
    for (const [kind, id] of [
      ['aiRun', run],
      ['aiAgent', ai_run.agent_id],
      ['aiTrigger', ai_run.trigger_id],
      ['record', ai_run.record_id],
    ]) {
      const story = await storyOf(project, id)
      assert.deepEqual([story.subject.kind, story.subject.id], [kind, id])
      assert.deepEqual(
        story.records.map((record: Answer['body']) => record.id),
        [ai_run.record_id],
        kind,
      )
      assert.deepEqual(
        story.ai_runs.map((one: Answer['body']) => [one.id, 'output' in one]),
        [[run, false]],
        kind,
      )
      assert.equal((await (await aProject()).admin('GET', `search/correlate/${id}`)).status, 404, kind)
    }
  })

  test('a resource without events has empty lists', async () => {
    const project = await aProject()
    const { destination } = await aDestination(project, { url: sink.url })
    const story = await storyOf(project, destination.id)
    assert.deepEqual([story.records, story.deliveries, story.timeline], [[], [], []])
  })
})

describe('unknown ids', () => {
  test('ids of other workspaces, unknown ids and malformed ids get the same answer', async () => {
    const [project, other] = [await aProject(), await aProject()]
    const { key } = await anIngestKey(project)
    await aDestination(project, { url: sink.url })
    const accepted = await post(`${world.baseUrl}/v1/ingest/${key}/inbox`, '{}')
    const story = await ended(project, accepted.body.id)
    const foreign: string[] = story.timeline.map((moment: Answer['body']) => moment.id)
    foreign.push(accepted.headers.get('request-id') ?? '')
    const unknown = [...Object.values(ID_PREFIXES), 'req', 'xxx'].map(
      (prefix) => `${prefix}_01hzzzzzzzzzzzzzzzzzzzzzzz`,
    )
    const answers = await Promise.all(
      [...foreign, ...unknown, 'nonsense', 'sub_', 'x'.repeat(100)].map((id) =>
        other.admin('GET', `search/correlate/${id}`),
      ),
    )
    const [first] = answers
    assert.deepEqual([first?.status, first?.body.reason], [404, 'not_found'])
    for (const answer of answers) assert.deepEqual([answer.status, answer.body], [404, first?.body])
  })

  test('only GET has a route, and every role may read', async () => {
    assert.equal((await world.admin('POST', 'search/correlate/x', {})).status, 405)
    const accepted = await post(world.endpoint, '{}')
    const database = behind(world)
    await statement(database, `update api_keys set role = 'viewer'`)
    try {
      assert.equal((await world.admin('GET', `search/correlate/${accepted.body.id}`)).status, 200)
    } finally {
      await statement(database, `update api_keys set role = 'admin'`)
      await database.close()
    }
  })
})
