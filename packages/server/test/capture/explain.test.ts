import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { LIMITS } from '@postroad/contract'
import { secretPlace } from '../../src/domain/secret-place.ts'
import { anIngestKey, aName, aRule, aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'

/** Why an event would be filed or not, and why a signature is refused (decisions on the decision trace and on verification). */
let world: World

before(async () => {
  world = await aWorld()
})
after(() => world.stop())

async function aProject(): Promise<World & { readonly id: string }> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  return {
    ...world,
    id: body.project.id,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
}

const given = (index: number) => ({ index, submission_id: null, received_at: null, data_left_out: false, error: null })
const sample = async (webhook: { id: string }, members: object): Promise<Answer['body']> => {
  const { status, body } = await world.admin('POST', `webhooks/${webhook.id}/verify-sample`, members)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const counts = ({ body }: Answer): number[] => [body.matched, body.tested]
const refused = (answer: Answer, what: RegExp): void => {
  assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(answer.body))
  assert.match(answer.body.error, what)
}

describe('POST rules/test', () => {
  test('runs unsaved conditions and mappings on given payloads: matched, the first that failed, the mapped result, and the counts', async () => {
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

  test('without conditions everything matches, and without mappings the record is the whole payload', async () => {
    const { body } = await world.admin('POST', 'rules/test', { payloads: [{ a: [1] }, null] })
    assert.deepEqual(
      body.results.map((result: Answer['body']) => [result.matched, result.data]),
      [
        [true, { a: [1] }],
        [true, null],
      ],
    )
  })

  test('a saved rule stands in for what is not sent', async () => {
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

  test('samples only stored payloads that reached the rules: none of an endpoint, none of a URL that names a dataset', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const { public_url, slug } = await aWebhook(project)
    const url = `${world.baseUrl}/v1/ingest/${key}`
    // A payload may say what a decision says, and contain what PostgreSQL refuses to unescape.
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

  test('runs on the newest stored payloads that reached the rules, as the road read them: JSON, forms, multipart and compressed bodies alike', async () => {
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

  test('compressed bodies that grow are read only until 16 MiB of them', async () => {
    const project = await aProject()
    const webhook = await aWebhook(project, { mappings: [{ target: 'a', value: 1 }] })
    const bomb = new Uint8Array(gzipSync(JSON.stringify({ a: 'x'.repeat(1_000_000) })))
    for (let sent = 0; sent < 20; sent += 1)
      assert.equal((await post(webhook.public_url, bomb, { headers: { 'content-encoding': 'gzip' } })).status, 201)
    assert.deepEqual(counts(await project.admin('POST', `webhooks/${webhook.id}/test`)), [17, 17])
  })

  test('numbers keep their digits in payloads_text, in stored payloads, and in what is seen', async () => {
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

  test('what cannot be run is refused by name', async () => {
    const run = (members: object): Promise<Answer> => world.admin('POST', 'rules/test', members)
    refused(await run({ conditions: [{ path: 'a', op: 'regex', value: '(a+)+' }] }), /^conditions\[0\]\.value: /)
    refused(await run({ conditions: [{ path: 'a' }] }), /^conditions\[0\]/)
    refused(await run({ mappings: [{ target: 'a' }] }), /^mappings\[0\]/)
    refused(await run({ payloads: {} }), /^payloads/)
    refused(await run({ payloads: Array.from({ length: 1_001 }, () => 1) }), /^payloads/)
    refused(await run({ payloads: [], payloads_text: '[]' }), /^payloads_text: /)
    refused(await run({ payloads_text: '[1,' }), /^payloads_text: /)
    refused(await run({ payloads_text: '{}' }), /^payloads_text: /)
    refused(await run({ recent: 1_001 }), /^recent/)
    refused(await run({ recent: -1 }), /^recent/)
    refused(await run({ payload: {} }), /"payload"/)
    refused(
      await world.admin('POST', 'rules/test', `{"payloads":[1,${'['.repeat(129)}${']'.repeat(129)}]}`),
      /^payloads\[1\]: it is nested/,
    )
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    refused(await world.admin('POST', 'rules/test', `{"payloads":[1,${deep}]}`), /nested more than/)
    refused(
      await world.admin('POST', 'rules/test', `{"payloads":[1],"mappings":[{"target":"a","value":${deep}}]}`),
      /nested more than/,
    )
  })

  test('many conditions on long texts end after a bounded piece of work, and the answer says what was not looked at', async () => {
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

  test('mappings that make too much of a payload say so for this payload', async () => {
    const mappings = Array.from({ length: 100 }, (_, at) => ({ target: `t${at}`, path: 'a' }))
    const { status, body } = await world.admin('POST', 'rules/test', {
      payloads: [{ a: 'x'.repeat(200_000) }, { a: 1 }],
      mappings,
    })
    assert.equal(status, 200)
    assert.match(body.results[0].error, /larger than 8 MiB together/)
    assert.deepEqual([body.results[0].data, body.results[1].error], [null, null])
  })

  test('a long answer leaves out the records, and says so, but not the verdicts', async () => {
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

  test('it stores nothing and leaves no audit row', async () => {
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

describe('POST webhooks/{id}/test', () => {
  test('runs the saved criteria and mappings on what the endpoint received, or others in their place', async () => {
    const project = await aProject()
    const webhook = await aWebhook(project, {
      criteria: [{ path: 'n', op: 'gte', value: 2 }],
      mappings: [{ target: 'm', path: 'n' }],
    })
    const other = await aWebhook(project)
    for (const n of [1, 2, 3]) await post(webhook.public_url, JSON.stringify({ n }))
    await post(other.public_url, '{"n":9}')
    const saved = await project.admin('POST', `webhooks/${webhook.id}/test`)
    assert.deepEqual(counts(saved), [2, 3])
    assert.deepEqual(
      saved.body.results.map((result: Answer['body']) => result.data),
      [{ m: 3 }, { m: 2 }, null],
    )
    assert.deepEqual(saved.body.results[2].failed, { index: 0, path: 'n', op: 'gte', expected: 2, saw: 1 })
    assert.deepEqual(counts(await project.admin('POST', `webhooks/${webhook.id}/test`, { criteria: [] })), [3, 3])
    assert.deepEqual(
      counts(
        await project.admin('POST', `webhooks/${webhook.id}/test`, {
          criteria: [{ path: 'x', op: 'exists' }],
          recent: 2,
        }),
      ),
      [0, 2],
    )
  })

  test('says what the road decides, on every payload', async () => {
    const project = await aProject()
    const criteria = [
      { path: 'a', op: 'regex', value: '^x' },
      { path: 'b', op: 'in', value: [1, '2'] },
    ]
    const webhook = await aWebhook(project, { criteria, mappings: [{ target: 'c.0', path: 'b', default: 'none' }] })
    for (const body of [
      '{"a":"x","b":1}',
      '{"a":"x","b":"2"}',
      '{"a":"y"}',
      '{"a":"x","b":3}',
      '7',
      '{"a":"xx","b":2.0}',
    ]) {
      const accepted = await post(webhook.public_url, body)
      const { body: stored } = await project.admin('GET', `submissions/${accepted.body.id}`)
      const { body: tried } = await project.admin('POST', `webhooks/${webhook.id}/test`, { payloads_text: `[${body}]` })
      const [result] = tried.results
      assert.deepEqual({ matched: result.matched, failed: result.failed }, stored.submission.decision.criteria, body)
      const record = accepted.body.records[0]
      const data = record === undefined ? null : (await project.admin('GET', `records/${record.id}`)).body.record.data
      assert.deepEqual(result.data, data, body)
    }
  })

  test('an endpoint that is not there, or of another project, is 404', async () => {
    const project = await aProject()
    const { id } = await aWebhook(world)
    for (const webhook of [id, 'whk_01hzzzzzzzzzzzzzzzzzzzzzzz', 'x']) {
      assert.equal((await project.admin('POST', `webhooks/${webhook}/test`, {})).status, 404)
      assert.equal((await project.admin('POST', `webhooks/${webhook}/verify-sample`, { headers: {} })).status, 404)
    }
    refused(
      await world.admin('POST', `webhooks/${id}/test`, { criteria: [{ path: 'a', op: 'regex', value: '(a+)+' }] }),
      /^criteria\[0\]/,
    )
  })
})

describe('POST webhooks/{id}/verify-sample', () => {
  const secret = 'correct horse battery'
  const sign = (body: string, key = secret): string => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`
  const mac = (body: string, key = secret) => createHmac('sha256', key).update(body)
  const aVerifying = (members: object = {}): Promise<Answer['body']> =>
    aWebhook(world, { verification: { scheme: 'code_host', secret, ...members } })
  test('says step by step what the check does with a request that passes', async () => {
    const body = '{"a":1}'
    assert.deepEqual(await sample(await aVerifying(), { headers: { 'X-Hub-Signature-256': sign(body) }, body }), {
      scheme: 'code_host',
      has_secret: true,
      ok: true,
      reason: null,
      failed_step: null,
      matched_secret: 'current',
      age_seconds: null,
      steps: [
        { step: 'secret', ok: true, text: 'This endpoint has a secret.' },
        { step: 'header', ok: true, text: 'The header X-Hub-Signature-256 is there.' },
        { step: 'format', ok: true, text: 'It has the form sha256=<hex>.' },
        { step: 'digest', ok: true, text: 'The signature is the one that the current secret makes for this body.' },
      ],
      hints: [],
    })
  })

  test('and which step failed, and why, as ingest does', async () => {
    const webhook = await aVerifying()
    const body = '{"a":1}'
    const failing = [
      { headers: {}, step: 'header', reason: 'missing_header' },
      { headers: { 'x-hub-signature-256': 'md5=1' }, step: 'format', reason: 'bad_signature' },
      { headers: { 'x-hub-signature-256': sign(body, 'wrong') }, step: 'digest', reason: 'bad_signature' },
    ]
    for (const { headers, step, reason } of failing) {
      const said = await sample(webhook, { headers, body })
      assert.deepEqual([said.ok, said.failed_step, said.reason], [false, step, reason])
      const ingest = await post(webhook.public_url, body, { headers })
      assert.deepEqual([ingest.status, ingest.body.reason], [401, reason])
      assert.equal(ingest.body.error, said.steps.find((one: { ok: boolean | null }) => one.ok === false).text)
    }
  })

  test('neither a secret nor a digest that would pass is ever in the answer, whatever the sample', async () => {
    const t = Math.floor(world.clock.now() / 1_000)
    const webhooks = {
      'x-hub-signature-256': await aVerifying(),
      'stripe-signature': await aVerifying({ scheme: 'payments_provider' }),
    }
    for (const [header, webhook] of Object.entries(webhooks)) {
      const samples = ['{"a":1}', '{ "a": 1 }\n', ''].flatMap((body) =>
        [t, t - 1_000, t + 1_000].map((at) => ({ body, at })),
      )
      for (const { body, at } of samples) {
        const signed = header.startsWith('x-hub') ? body : `${at}.${body}`
        const whole = (digest: string): string =>
          header.startsWith('x-hub') ? `sha256=${digest}` : `t=${at},v1=${digest}`
        const [right, forged] = [mac(signed).digest('hex'), mac(signed, 'wrong').digest('hex')]
        const values = [
          whole(right),
          whole(forged),
          whole(right.slice(1)),
          whole(mac(signed.replaceAll(/[ \n]/g, '')).digest('hex')),
          whole('zz'),
          'nonsense',
          '',
          undefined,
        ]
        const digests = [signed, signed.trim(), signed.replaceAll(/[ \n]/g, '')].map((text) => mac(text).digest())
        const hidden = [
          secret,
          ...[Buffer.from(secret), ...digests].flatMap((bytes) => [
            bytes.toString('hex'),
            bytes.toString('base64').replace(/=+$/, ''),
            bytes.toString('base64url'),
          ]),
        ]
        for (const value of values) {
          const said = JSON.stringify(
            await sample(webhook, { headers: value === undefined ? {} : { [header]: value }, body }),
          ).toLowerCase()
          assert.deepEqual(
            hidden.filter((text) => said.includes(text.toLowerCase())),
            [],
            `${header}: ${value}`,
          )
        }
      }
    }
  })

  test('a body in base64 is taken byte for byte, and one that was changed on the way is recognised', async () => {
    const webhook = await aVerifying()
    const bytes = Buffer.from([0, 255, 128])
    const signature = `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`
    assert.equal(
      (await sample(webhook, { headers: { 'x-hub-signature-256': signature }, body_base64: bytes.toString('base64') }))
        .ok,
      true,
    )
    const changed = await sample(webhook, { headers: { 'x-hub-signature-256': sign('{"a":1}') }, body: '{ "a": 1 }\n' })
    assert.deepEqual(changed.hints, [
      'The signature is right for the body with its JSON compacted: the body was changed on the way.',
    ])
  })

  test('the time is looked at as of now, or as of the moment that is sent', async () => {
    const webhook = await aVerifying({ scheme: 'payments_provider' })
    const t = Math.floor(world.clock.now() / 1_000) - 1_000
    const headers = { 'Stripe-Signature': `t=${t},v1=${createHmac('sha256', secret).update(`${t}.{}`).digest('hex')}` }
    const old = await sample(webhook, { headers, body: '{}' })
    assert.deepEqual(
      [old.failed_step, old.reason, old.age_seconds, old.matched_secret],
      ['tolerance', 'stale_timestamp', 1_000, 'current'],
    )
    for (const now of [t + 10, new Date((t + 10) * 1_000).toISOString()]) {
      const fresh = await sample(webhook, { headers, body: '{}', now })
      assert.deepEqual(
        [fresh.ok, fresh.age_seconds, fresh.steps.at(-1).text],
        [true, 10, 'It is 10 s old, and 300 s is allowed.'],
      )
    }
  })

  test('an endpoint without a secret says so first; one that verifies nothing says that', async () => {
    const webhook = await aWebhook(world, { verification: { scheme: 'code_host', without_secret: true } })
    const said = await sample(webhook, { headers: { 'x-hub-signature-256': sign('') } })
    assert.deepEqual(
      [said.has_secret, said.ok, said.failed_step, said.reason],
      [false, false, 'secret', 'bad_signature'],
    )
    assert.deepEqual(
      said.steps.map(({ ok }: { ok: boolean | null }) => ok),
      [false, null, null, null],
    )
    const open = await sample(await aWebhook(world), { headers: {} })
    assert.deepEqual([open.scheme, open.ok, open.has_secret, open.steps], ['none', true, false, []])
  })

  test('a previous secret passes until its end, and explains a sample after it', async () => {
    const webhook = await aVerifying()
    const database = behind(world)
    const uuid = (
      await database.one<{ id: string }>({ strings: [`select id from webhooks order by id desc limit 1`], values: [] })
    ).id
    const sealed = world.storage.cipher
      .seal('staple of yesterday', secretPlace('webhooks.previous_secret', uuid))
      .toString('hex')
    const end = new Date(world.clock.now() + 60_000)
    await statement(
      database,
      `update webhooks set previous_secret = '\\x${sealed}', previous_secret_expires_at = '${end.toISOString()}' where id = '${uuid}'`,
    )
    await database.close()
    const members = { headers: { 'x-hub-signature-256': sign('{}', 'staple of yesterday') }, body: '{}' }
    const alive = await sample(webhook, members)
    assert.deepEqual([alive.ok, alive.matched_secret], [true, 'previous'])
    const ended = await sample(webhook, { ...members, now: end.toISOString() })
    assert.deepEqual(
      [ended.ok, ended.hints],
      [false, ['It was made with the previous secret, which no longer verifies.']],
    )
  })

  test('what is malformed is refused by name', async () => {
    const { id } = await aVerifying()
    const run = (members: object): Promise<Answer> => world.admin('POST', `webhooks/${id}/verify-sample`, members)
    refused(await run({}), /^headers/)
    refused(await run({ headers: { a: 1 } }), /^headers/)
    refused(await run({ headers: {}, body: 'a', body_base64: 'YQ==' }), /body/)
    refused(await run({ headers: {}, body_base64: '!' }), /^body_base64/)
    refused(await run({ headers: {}, now: 'soon' }), /^now/)
    refused(await run({ headers: {}, secret: 'x' }), /"secret"/)
    refused(
      await run({ headers: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`h${at}`, ''])) }),
      /^headers/,
    )
  })
})

describe('who may try', () => {
  test('every role, and a suspended workspace too, because nothing is changed', async () => {
    const { id } = await aWebhook(world)
    const database = behind(world)
    await statement(database, `update api_keys set role = 'viewer'`)
    await statement(database, `update workspaces set suspended_at = now()`)
    try {
      assert.equal((await world.admin('POST', 'rules/test', { payloads: [{}] })).status, 200)
      assert.equal((await world.admin('POST', `webhooks/${id}/test`, { payloads: [{}] })).status, 200)
      assert.equal((await world.admin('POST', `webhooks/${id}/verify-sample`, { headers: {} })).status, 200)
      assert.equal((await world.admin('POST', 'rules', { name: 'x', dataset: 'd' })).status, 403)
    } finally {
      await statement(database, `update api_keys set role = 'admin'`)
      await statement(database, `update workspaces set suspended_at = null`)
      await database.close()
    }
  })
})
