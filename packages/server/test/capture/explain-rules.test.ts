import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { LIMITS } from '@postroad/contract'
import { anIngestKey, aName, aRule, aWebhook, behind, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Explanations of why a rule would file an event or not (decisions on the decision trace). */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
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

const given = (index: number) => ({ index, submission_id: null, received_at: null, data_left_out: false, error: null })
const counts = ({ body }: Answer): number[] => [body.matched, body.tested]
const refused = (answer: Answer, what: RegExp): void => {
  assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(answer.body))
  assert.match(answer.body.error, what)
}

describe('POST rules/test', () => {
  test('the trial runs unsaved conditions and mappings on given payloads, and reports the match, the first failed condition, the mapped result and the counts', async () => {
    const answer = await world.admin('POST', 'rules/test', {
      conditions: [
        { path: 'type', equals: 'order' },
        { path: 'n', op: 'gt', value: 10 },
      ],
      mappings: [{ target: 'total', path: 'n', transform: 'string' }],
      payloads: [{ type: 'order', n: 11 }, { type: 'order', n: 9 }, { n: 11 }, 'text'],
    })
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.body, {
      matched: 1,
      tested: 4,
      results: [
        { ...given(0), matched: true, failed: null, data: { total: '11' } },
        { ...given(1), matched: false, failed: { index: 1, path: 'n', op: 'gt', expected: 10, saw: 9 }, data: null },
        {
          ...given(2),
          matched: false,
          failed: { index: 0, path: 'type', op: 'equals', expected: 'order' },
          data: null,
        },
        {
          ...given(3),
          matched: false,
          failed: { index: 0, path: 'type', op: 'equals', expected: 'order' },
          data: null,
        },
      ],
    })
  })

  test('without conditions every payload matches, and without mappings the record is the whole payload', async () => {
    const { body } = await world.admin('POST', 'rules/test', { payloads: [{ a: [1] }, null] })
    assert.deepEqual(
      body.results.map((result: Answer['body']) => [result.matched, result.data]),
      [
        [true, { a: [1] }],
        [true, null],
      ],
    )
  })

  test('a saved rule supplies the parts that the request omits', async () => {
    const project = await aProject()
    const { id } = await aRule(project, {
      conditions: [{ path: 'a', equals: 1 }],
      mappings: [{ target: 'b', path: 'a' }],
    })
    const run = async (members: object): Promise<Answer['body']> =>
      (
        await project.admin('POST', 'rules/test', { rule_id: id, payloads: [{ a: 1 }, { a: 2 }], ...members })
      ).body.results.map((result: Answer['body']) => result.data)
    assert.deepEqual(await run({}), [{ b: 1 }, null])
    assert.deepEqual(await run({ mappings: [] }), [{ a: 1 }, null])
    assert.deepEqual(await run({ conditions: [] }), [{ b: 1 }, { b: 2 }])
    for (const [path, rule] of [
      ['rules/test', id],
      [`projects/${project.id}/rules/test`, 'rul_01hzzzzzzzzzzzzzzzzzzzzzzz'],
    ]) {
      assert.equal((await world.admin('POST', path ?? '', { rule_id: rule })).status, 404)
    }
  })

  test('the trial samples only stored payloads that reached the rules: none of an endpoint, and none of a URL that names a dataset', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const { public_url, slug } = await aWebhook(project)
    const url = `${world.baseUrl}/v1/ingest/${key}`
    // A payload can contain the text of a decision, and escapes that PostgreSQL refuses.
    await aRule(project, { conditions: [{ path: 'a', equals: 'x' }] })
    const reached = await post(url, '{"n":1,"a":"\\u0000"}')
    await post(`${url}/inbox`, '{"rules":[1]}')
    await post(public_url, '{"n":3}')
    await post(`${world.baseUrl}/v1/webhooks/${key}/${slug}`, '{"n":4}')
    const { body } = await project.admin('POST', 'rules/test', {})
    assert.deepEqual(
      body.results.map((result: Answer['body']) => result.submission_id),
      [reached.body.id],
    )
  })

  test('the trial decodes the newest stored payloads as ingest did: JSON, forms, multipart and compressed bodies alike', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const form = new FormData()
    form.set('n', '3')
    const url = `${world.baseUrl}/v1/ingest/${key}`
    const zipped = () => post(url, new Uint8Array(gzipSync('{"n":4}')), { headers: { 'content-encoding': 'gzip' } })
    const sent = [
      await post(url, '{"n":1}'),
      await post(url, 'n=2', { type: 'application/x-www-form-urlencoded' }),
      await post(url, form),
      await zipped(),
    ]
    const { body } = await project.admin('POST', 'rules/test', {
      mappings: [{ target: 'n', path: 'n', transform: 'number' }],
    })
    assert.deepEqual(
      body.results.map((result: Answer['body']) => [result.submission_id, result.data]),
      sent.map((answer, at) => [answer.body.id, { n: at + 1 }]).toReversed(),
    )
    assert.ok(
      body.results.every(
        (result: Answer['body']) => result.index === null && result.received_at === '2026-01-15T12:00:00.000Z',
      ),
    )
    const some = await project.admin('POST', 'rules/test', { recent: 2, payloads: [{ n: 0 }] })
    assert.deepEqual(
      some.body.results.map((result: Answer['body']) => [result.index, result.submission_id]),
      [
        [0, null],
        [null, sent[3]?.body.id],
        [null, sent[2]?.body.id],
      ],
    )
    assert.deepEqual(counts(await project.admin('POST', 'rules/test', { payloads: [{}] })), [1, 1])
    assert.deepEqual(counts(await project.admin('POST', 'rules/test', { recent: 0 })), [0, 0])
  })

  test('the trial reads compressed bodies that inflate to more only up to a total of 16 MiB', async () => {
    const project = await aProject()
    const webhook = await aWebhook(project, { mappings: [{ target: 'a', value: 1 }] })
    const bomb = new Uint8Array(gzipSync(JSON.stringify({ a: randomBytes(500_000).toString('hex') })))
    for (let sent = 0; sent < 20; sent += 1)
      assert.equal((await post(webhook.public_url, bomb, { headers: { 'content-encoding': 'gzip' } })).status, 201)
    assert.deepEqual(counts(await project.admin('POST', `webhooks/${webhook.id}/test`)), [17, 17])
  })

  test('numbers retain their digits in payloads_text, in stored payloads and in the observed values', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    await post(`${world.baseUrl}/v1/ingest/${key}`, '{"n":12345678901234567890}')
    const response = await fetch(`${world.baseUrl}/admin/api/projects/${project.id}/rules/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.installed.api_key}` },
      body: JSON.stringify({
        recent: 1,
        payloads_text: '[{"n":12345678901234567890},{"n":1.50}]',
        conditions: [{ path: 'n', equals: '12345678901234567890' }],
      }),
    })
    const text = await response.text()
    assert.equal([...text.matchAll(/"data":\{"n":12345678901234567890\}/g)].length, 2)
    assert.match(text, /"saw":1\.50[,}]/)
  })

  test('an input that cannot run is refused, and the error names it', async () => {
    const run = (members: object): Promise<Answer> => world.admin('POST', 'rules/test', members)
    refused(await run({ conditions: [{ path: 'a', op: 'regex', value: '(a+)+' }] }), /^conditions\[0\]\.value:? /)
    refused(await run({ conditions: [{ path: 'a' }] }), /^conditions\[0\]/)
    refused(await run({ mappings: [{ target: 'a' }] }), /^mappings\[0\]/)
    refused(await run({ payloads: {} }), /^payloads/)
    refused(await run({ payloads: Array.from({ length: 1_001 }, () => 1) }), /^payloads/)
    refused(await run({ payloads: [], payloads_text: '[]' }), /^payloads_text:? /)
    refused(await run({ payloads_text: '[1,' }), /^payloads_text:? /)
    refused(await run({ payloads_text: '{}' }), /^payloads_text:? /)
    refused(await run({ recent: 1_001 }), /^recent/)
    refused(await run({ recent: -1 }), /^recent/)
    refused(await run({ payload: {} }), /"payload"/)
    refused(
      await world.admin('POST', 'rules/test', `{"payloads":[1,${'['.repeat(129)}${']'.repeat(129)}]}`),
      /^payloads\[1\] is nested/,
    )
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    refused(await world.admin('POST', 'rules/test', `{"payloads":[1,${deep}]}`), /nested more than/)
    refused(
      await world.admin('POST', 'rules/test', `{"payloads":[1],"mappings":[{"target":"a","value":${deep}}]}`),
      /nested more than/,
    )
  })

  test('many conditions on long texts stop after a bounded amount of work, and the answer reports the payloads that were not examined', async () => {
    const conditions = Array.from({ length: 50 }, () => ({ path: 'a', op: 'contains', value: 'aaa' }))
    const payloads = Array.from({ length: 10 }, () => ({ a: 'a'.repeat(100_000) }))
    for (const path of ['rules/test', `webhooks/${(await aWebhook(world)).id}/test`]) {
      const list = path === 'rules/test' ? { conditions } : { criteria: conditions }
      const { status, body } = await world.admin('POST', path, { ...list, payloads })
      assert.deepEqual([status, body.budget_used_up], [200, true])
      assert.ok(body.tested > 0 && body.tested < 10)
      assert.deepEqual(
        [body.results.length, body.matched, body.not_looked_at],
        [body.tested, body.tested, 10 - body.tested],
      )
      const few = await world.admin('POST', path, { ...list, payloads: payloads.slice(0, 2) })
      assert.deepEqual([few.body.tested, 'budget_used_up' in few.body], [2, false])
    }
  })

  test('mappings that make a payload too large are reported for that payload', async () => {
    const mappings = Array.from({ length: 100 }, (_, at) => ({ target: `t${at}`, path: 'a' }))
    const { status, body } = await world.admin('POST', 'rules/test', {
      payloads: [{ a: 'x'.repeat(200_000) }, { a: 1 }],
      mappings,
    })
    assert.equal(status, 200)
    assert.match(body.results[0].error, /larger than 8 MiB in total/)
    assert.deepEqual([body.results[0].data, body.results[1].error], [null, null])
  })

  test('a long answer omits the records and reports this, and includes all verdicts', async () => {
    const wide = Array.from({ length: 100 }, (_, at) => ({ target: `t${at}`, path: 'a' }))
    const { status, body } = await world.admin('POST', 'rules/test', {
      payloads: ['x', 'y'].map((letter) => ({ a: letter.repeat(30_000) })),
      mappings: wide,
    })
    assert.equal(status, 200)
    assert.deepEqual(
      body.results.map((result: Answer['body']) => [result.matched, result.data_left_out, result.data === null]),
      [
        [true, false, false],
        [true, true, true],
      ],
    )
    assert.ok(JSON.stringify(body).length < LIMITS.dryRunDataCharsMax * 1.1)
  })

  test('the trial stores nothing and writes no audit row', async () => {
    const database = behind(world)
    const rows = async (): Promise<unknown> =>
      database.one({
        strings: [
          `select (select count(*) from submissions) as s, (select count(*) from records) as r, (select count(*) from audit_rows) as a`,
        ],
        values: [],
      })
    const stored = await rows()
    await world.admin('POST', 'rules/test', { payloads: [{}], recent: 10 })
    assert.deepEqual(await rows(), stored)
    await database.close()
  })
})
