import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  aDestination,
  aName,
  anIngestKey,
  aRule,
  aWebhook,
  filedText,
  post,
  recordOf,
  submissionOf,
} from '../stage/fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World } from '../stage/harness.ts'

/** Who files a payload where, and why (contract part 1, ingest rules 1 to 4; decisions on the decision trace). */
let world: World
let sink: Sink

before(async () => {
  world = await aWorld()
  sink = await aSink()
})
after(async () => {
  await world.stop()
  await sink.stop()
})

/** A project of its own, so that no other test's rules and destinations have a say. */
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

describe('rule 1: an endpoint URL files into its own dataset by its own criteria and mappings', () => {
  test('with no criteria and no mappings the whole payload becomes one record', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, { dataset: 'inbox' })
    const answer = await post(public_url, '[1, {"a":2}]')
    assert.deepEqual(
      answer.body.records.map((record: { dataset: string }) => record.dataset),
      ['inbox'],
    )
    assert.equal(await filedText(project, answer), '[1, {"a":2}]')
    assert.deepEqual(await decisionOf(project, answer), { criteria: { matched: true, failed: null }, destinations: [] })
  })

  test('criteria that do not hold: 201, no record, and the decision names the first that failed and the value it saw', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, {
      criteria: [
        { path: 'type', equals: 'order' },
        { path: 'amount', op: 'gte', value: 100 },
      ],
    })
    const answer = await post(public_url, '{"type":"order","amount":99}')
    assert.deepEqual([answer.body.status, answer.body.records], ['accepted', []])
    const { criteria, destinations } = await decisionOf(project, answer)
    assert.deepEqual(criteria, {
      matched: false,
      failed: { index: 1, path: 'amount', op: 'gte', expected: 100, saw: 99 },
    })
    assert.deepEqual(destinations, [])
  })

  test('criteria that hold file the payload', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, {
      criteria: [
        { path: 'type', equals: 'order' },
        { path: 'id', op: 'exists' },
      ],
    })
    const answer = await post(public_url, '{"type":"order","id":null}')
    assert.equal(answer.body.records.length, 1)
  })

  test('a path that leads nowhere saw nothing', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, { criteria: [{ path: 'deep.down', equals: 'x' }] })
    const { criteria } = await decisionOf(project, await post(public_url, '{"deep":1}'))
    assert.deepEqual(criteria, { matched: false, failed: { index: 0, path: 'deep.down', op: 'equals', expected: 'x' } })
  })

  test('the value seen keeps its digits, and a long one is cut', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, { criteria: [{ path: 'v', equals: 'x' }] })
    const answer = await post(public_url, '{"v":12345678901234567890}')
    const url = `${world.baseUrl}/admin/api/projects/${project.id}/submissions/${answer.body.id}`
    const response = await fetch(url, { headers: { authorization: `Bearer ${world.installed.api_key}` } })
    assert.match(await response.text(), /"saw":12345678901234567890[,}]/)
    const long = await decisionOf(project, await post(public_url, JSON.stringify({ v: 'y'.repeat(10_000) })))
    assert.ok(long.criteria.failed.saw.length < 300)
    assert.ok(long.criteria.failed.saw.startsWith('yyy'))
  })

  test('mappings make the record: paths, constants, defaults, transforms; what is missing is left out', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, {
      mappings: [
        { target: 'order.id', path: 'data.id' },
        { target: 'lines.0', path: 'items.1.sku', transform: 'uppercase' },
        { target: 'source', value: 'shop' },
        { target: 'currency', path: 'currency', default: 'EUR' },
        { target: 'gone', path: 'nowhere' },
      ],
    })
    const answer = await post(public_url, '{"data":{"id":12345678901234567890},"items":[{},{"sku":"ab-1"}]}')
    assert.equal(
      await filedText(project, answer),
      '{"order":{"id":12345678901234567890},"lines":["AB-1"],"source":"shop","currency":"EUR"}',
    )
  })

  test("the dataset in the URL overrides the endpoint's own, and nothing else", async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, {
      dataset: 'own',
      criteria: [{ path: 'ok', equals: true }],
      mappings: [{ target: 'b', path: 'a' }],
    })
    const answer = await post(`${public_url}/other`, '{"ok":true,"a":1}')
    assert.deepEqual([answer.body.dataset, answer.body.records[0].dataset], ['other', 'other'])
    assert.equal(await filedText(project, answer), '{"b":1}')
    const refused = await post(`${public_url}/other`, '{"ok":false}')
    assert.deepEqual([refused.body.dataset, refused.body.records], ['other', []])
  })
})

describe('rule 2: /v1/ingest/{key}/{dataset} stores the payload whole', () => {
  test('no criteria, mappings or rules have a say', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    await aRule(project, { mappings: [{ target: 'mapped', value: true }] })
    await aWebhook(project, { dataset: 'events', mappings: [{ target: 'mapped', value: true }] })
    const answer = await post(`${world.baseUrl}/v1/ingest/${key}/events`, '{"a": 1}')
    assert.equal(await filedText(project, answer), '{"a": 1}')
    assert.ok(!('routed' in answer.body))
    assert.deepEqual(await decisionOf(project, answer), { destinations: [] })
  })
})

describe('rule 3: project rules are evaluated in exactly one shape', () => {
  test('each matching rule writes its own record; the others are explained', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const big = await aRule(project, {
      name: 'big',
      dataset: 'big',
      conditions: [{ path: 'n', op: 'gt', value: 10 }],
      mappings: [{ target: 'n', path: 'n' }],
    })
    const all = await aRule(project, { name: 'all', dataset: 'all' })
    const odd = await aRule(project, {
      name: 'odd',
      dataset: 'odd',
      conditions: [{ path: 'kind', op: 'in', value: ['x', 'y'] }],
    })
    await aRule(project, { name: 'off', dataset: 'off', enabled: false })
    const answer = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"n":11, "kind":"z"}')
    const routed = answer.body.routed as { rule_id: string; rule: string; dataset: string; record_id: string }[]
    assert.equal(answer.body.dataset, null)
    assert.deepEqual(
      new Set(routed.map(({ rule, rule_id, dataset }) => `${rule} ${rule_id} ${dataset}`)),
      new Set([`big ${big.id} big`, `all ${all.id} all`]),
    )
    assert.deepEqual(
      routed.map(({ record_id, dataset }) => ({ id: record_id, dataset })),
      answer.body.records,
    )
    const textOf = async (rule: string): Promise<string> =>
      (await recordOf(project, routed.find((one) => one.rule === rule)?.record_id ?? '')).data_text
    assert.deepEqual([await textOf('big'), await textOf('all')], ['{"n":11}', '{"n":11, "kind":"z"}'])
    const { rules, criteria } = await decisionOf(project, answer)
    assert.equal(criteria, undefined)
    const missed = rules.find((one: { rule: string }) => one.rule === 'odd')
    assert.deepEqual(missed, {
      rule_id: odd.id,
      rule: 'odd',
      matched: false,
      failed: { index: 0, path: 'kind', op: 'in', expected: ['x', 'y'], saw: 'z' },
      record_id: null,
    })
    assert.ok(!rules.some((one: { rule: string }) => one.rule === 'off'))
  })

  test('when no rule matches, routed is empty and the submission is kept', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    for (const rules of [0, 1]) {
      if (rules === 1) await aRule(project, { conditions: [{ path: 'never', op: 'exists' }] })
      const answer = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"a":1}')
      assert.deepEqual([answer.status, answer.body.routed, answer.body.records], [201, [], []])
      assert.equal((await submissionOf(project, answer.body.id)).body, '{"a":1}')
    }
  })

  test('rules are never evaluated on an endpoint URL, by slug, or when the URL names a dataset', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    await aRule(project, { dataset: 'by_rule' })
    const { public_url } = await aWebhook(project, { slug: 'hook', dataset: 'own' })
    for (const url of [
      public_url,
      `${public_url}/named`,
      `${world.baseUrl}/v1/webhooks/${key}/hook`,
      `${world.baseUrl}/v1/ingest/${key}/named`,
    ]) {
      const answer = await post(url, '{}')
      assert.ok(!('routed' in answer.body))
      assert.equal(answer.body.records.length, 1)
      assert.equal((await decisionOf(project, answer)).rules, undefined)
    }
    const { body } = await project.admin('GET', 'records?dataset=by_rule')
    assert.deepEqual(body.records, [])
  })
})

describe('rule 4: /v1/webhooks/{key}/{slug} uses the criteria and mappings of the endpoint it names', () => {
  test('criteria and mappings hold as on its URL', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    await aWebhook(project, {
      slug: 'hook',
      dataset: 'own',
      criteria: [{ path: 'ok', equals: 'true' }],
      mappings: [{ target: 'b', path: 'a' }],
    })
    const answer = await post(`${world.baseUrl}/v1/webhooks/${key}/hook`, '{"ok":true,"a":[1.50]}')
    assert.deepEqual([answer.body.dataset, await filedText(project, answer)], ['own', '{"b":[1.50]}'])
    const refused = await post(`${world.baseUrl}/v1/webhooks/${key}/hook`, '{"ok":false}')
    assert.deepEqual(refused.body.records, [])
    assert.equal((await decisionOf(project, refused)).criteria.failed.saw, false)
  })

  test('an ingest key opens its own project only', async () => {
    const [mine, theirs] = [await aProject(), await aProject()]
    const { key } = await anIngestKey(mine)
    await aWebhook(theirs, { slug: 'only-there' })
    const answer = await post(`${world.baseUrl}/v1/webhooks/${key}/only-there`, '{}')
    assert.deepEqual([answer.status, answer.body.reason], [404, 'endpoint_not_found'])
  })
})

describe('destinations: each record considers each destination, and the decision says why', () => {
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

  test('each record of a submission is considered by itself', async () => {
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
    const received = await eventually(async () => sink.received.find(({ path }) => path === '/two'))
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
    ['not_equals on a missing field holds', { path: 'v', op: 'not_equals', value: 'x' }, '{}', true],
    [
      'a number beyond 2^53 does not equal its neighbour',
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
    ['exists holds for null', { path: 'v', op: 'exists' }, '{"v":null}', true],
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

/** The answer byte for byte: the readers of tests would round. */
async function adminText(method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(`${world.baseUrl}/admin/api/${path}`, {
    method,
    headers: { authorization: `Bearer ${world.installed.api_key}` },
    ...(body === undefined ? {} : { body }),
  })
  assert.ok(response.ok, await response.clone().text())
  return response.text()
}

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('constants and defaults of mappings are data', () => {
  /** Digits that a double would lose, or spell in another way. */
  const NUMBERS = [
    '12345678901234567890',
    '1e400',
    '-0',
    '1.50',
    '0.1234567890123456789',
    '0.0000001',
    '[1.0,{"a":3E2}]',
  ]
  const mappings = (): string =>
    JSON.stringify(
      NUMBERS.flatMap((_number, at) => [
        { target: `v${at}`, value: `#${at}` },
        { target: `d${at}`, path: 'none', default: `#${at}` },
      ]),
    ).replaceAll(/"#(\d+)"/g, (_mark, at) => NUMBERS[Number(at)] ?? '')
  const filed = `{${NUMBERS.map((number, at) => `"v${at}":${number},"d${at}":${number}`).join(',')}}`

  test('a rule files them digit for digit as they were written, and shows them so', async () => {
    const project = await aProject()
    const at = `projects/${project.id}/rules`
    const { key } = await anIngestKey(project)
    const { rule } = JSON.parse(
      await adminText('POST', at, `{"name":"kept","dataset":"kept","mappings":${mappings()}}`),
    )
    assert.ok((await adminText('GET', `${at}/${rule.id}`)).includes(`"mappings":${mappings()}`))
    assert.equal(await filedText(project, await post(`${world.baseUrl}/v1/ingest/${key}`, '{}')), filed)
    await adminText('PATCH', `${at}/${rule.id}`, '{"mappings":[{"target":"a","value":7.00}]}')
    assert.equal(await filedText(project, await post(`${world.baseUrl}/v1/ingest/${key}`, '{}')), '{"a":7.00}')
    assert.ok(
      (
        await adminText(
          'POST',
          `${at}/test`,
          `{"payloads":[{"b":1.00}],"mappings":[{"target":"a","value":-0},{"target":"b","path":"b"}]}`,
        )
      ).includes('"data":{"a":-0,"b":1.00}'),
    )
  })

  test('and so does an endpoint, also when a former version of it is restored', async () => {
    const project = await aProject()
    const at = `projects/${project.id}/webhooks`
    const { webhook } = JSON.parse(await adminText('POST', at, `{"name":"kept","mappings":${mappings()}}`))
    assert.equal(await filedText(project, await post(webhook.public_url, '{}')), filed)
    await adminText('PATCH', `${at}/${webhook.id}`, '{"mappings":[{"target":"a","value":7.00}]}')
    assert.equal(await filedText(project, await post(webhook.public_url, '{}')), '{"a":7.00}')
    await adminText('PATCH', `${at}/${webhook.id}`, '{"mappings":[{"target":"a","value":7.000}]}')
    assert.equal(
      JSON.parse(await adminText('GET', `${at}/${webhook.id}/versions`)).versions[0].version,
      3,
      'another text is another constant',
    )
    assert.ok((await adminText('GET', `${at}/${webhook.id}/versions/1`)).includes(`"mappings":${mappings()}`))
    await adminText('POST', `${at}/${webhook.id}/versions/1/restore`, '{}')
    assert.equal(await filedText(project, await post(webhook.public_url, '{}')), filed)
    assert.ok((await adminText('POST', `${at}/${webhook.id}/test`, '{"payloads":[{}]}')).includes(`"data":${filed}`))
  })

  test('a number of any other setting may be spelled in any way', async () => {
    const { destination } = JSON.parse(
      await adminText(
        'POST',
        'destinations',
        `{"name":"spelled","url":"${sink.url}","timeout_ms":2.0e3,"max_in_flight":5.0}`,
      ),
    )
    assert.deepEqual([destination.timeout_ms, destination.max_in_flight], [2_000, 5])
  })
})

describe('however deep it is, what is stored is shown, and one Postroad feeds another', () => {
  test('a record that a mapping put deeper than a body may be is shown whole, in every list', async () => {
    const project = await aProject()
    const target = Array.from({ length: 128 }, () => 'a').join('.')
    const { id, public_url } = await aWebhook(project, { mappings: [{ target, path: 'deep' }] })
    const accepted = await post(public_url, `{"deep":${nested(127)}}`)
    const text = `${'{"a":'.repeat(128)}${nested(127)}${'}'.repeat(128)}`
    const record = await recordOf(project, accepted.body.records[0].id)
    assert.deepEqual([record.data_text, JSON.stringify(record.data)], [text, text])
    assert.equal(JSON.stringify((await project.admin('GET', 'records')).body.records[0].data), text)
    const { body } = await project.admin('GET', `webhooks/${id}/records`)
    assert.equal(body.rows[0].value, undefined, 'its columns are found')
  })

  test('a delivery of the deepest payload, and of the deepest record, is accepted by a Postroad', async () => {
    const [first, second] = [await aProject(), await aProject()]
    const { id: hearsId, public_url: hears } = await aWebhook(second)
    await aDestination(first, { url: hears })
    const { public_url: whole } = await aWebhook(first)
    const { public_url: mapped } = await aWebhook(first, {
      mappings: [{ target: Array.from({ length: 128 }, () => 'a').join('.'), path: '0' }],
    })
    for (const url of [whole, mapped]) {
      const accepted = await post(url, nested(128))
      const { data_text: text, ...record } = await recordOf(first, accepted.body.records[0].id)
      const heard = await eventually(async () => {
        const { records } = (await second.admin('GET', 'records')).body
        return records.find(({ data }: Answer['body']) => data.id === record.id)
      })
      assert.equal(JSON.stringify(heard.data.data), text)
      const dry = await second.admin('POST', `webhooks/${hearsId}/test`, { recent: 1 })
      assert.deepEqual([dry.body.results[0].error, dry.body.results[0].data.id], [null, record.id])
    }
  })

  test('an admin body is refused by its depth alone with a sentence, never with a 500', async () => {
    for (const levels of [257, 4_500, 100_000]) {
      for (const path of ['rules', 'webhooks', 'rules/test', 'destinations']) {
        const { status, body } = await world.admin(
          'POST',
          path,
          `{"name":"deep","dataset":"deep","url":"${sink.url}","mappings":[{"target":"a","value":${nested(levels)}}]}`,
        )
        assert.deepEqual([status, body.reason], [400, 'invalid_request'])
        assert.match(body.error, /^The body is nested more than 256 levels deep at line 1, column \d+; flatten it\.$/)
      }
    }
    const { status, body } = await world.admin(
      'POST',
      'rules',
      `{"name":"deep","dataset":"deep","mappings":[{"target":"a","value":${nested(128)}}]}`,
    )
    assert.equal(status, 400)
    assert.match(body.error, /^mappings\[0\]: A record nests at most 128 levels deep/)
  })
})
