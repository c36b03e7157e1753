import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aName, anIngestKey, aRule, aWebhook, filedText, post, recordOf, submissionOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The rules for filing payloads (contract part 1, ingest rules 1 to 4). */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
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

describe('rule 1: an endpoint URL files into its own dataset by its own criteria and mappings', () => {
  test('without criteria and mappings the whole payload becomes one record', async () => {
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

  test('criteria that fail give 201 and no record, and the decision names the first failed condition and the value that it saw', async () => {
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

  test('criteria that match file the payload', async () => {
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

  test('a path that does not exist in the payload sees nothing', async () => {
    const project = await aProject()
    const { public_url } = await aWebhook(project, { criteria: [{ path: 'deep.down', equals: 'x' }] })
    const { criteria } = await decisionOf(project, await post(public_url, '{"deep":1}'))
    assert.deepEqual(criteria, { matched: false, failed: { index: 0, path: 'deep.down', op: 'equals', expected: 'x' } })
  })

  test('the value that a condition saw retains its digits, and a long one is cut', async () => {
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

  test('mappings make the record: paths, constants, defaults, transforms; missing values are left out', async () => {
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

  test('the dataset in the URL overrides the dataset of the endpoint, and nothing else', async () => {
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
  test('no criteria, mappings or rules apply', async () => {
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
  test('each matching rule writes a separate record; the answer explains the other rules', async () => {
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

  test('the decision cuts off long values of conditions, so an event stores little more than itself', async () => {
    const project = await aProject()
    const { key } = await anIngestKey(project)
    const long = 'x'.repeat(100_000)
    await aRule(project, { conditions: [{ path: 'a', op: 'contains', value: long }] })
    await aRule(project, { conditions: [{ path: 'a', op: 'in', value: [long, long] }] })
    const answer = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"a":"b"}')
    const { rules } = await decisionOf(project, answer)
    assert.deepEqual(
      rules.map(({ failed }: { failed: { expected: unknown } }) => failed.expected),
      [`${long.slice(0, 200)}…`, `${JSON.stringify([long, long]).slice(0, 200)}…`],
    )
  })

  test('when no rule matches, routed is empty and the submission is stored', async () => {
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
  test('criteria and mappings apply as on the URL of the endpoint', async () => {
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

  test('an ingest key gives access only to its project', async () => {
    const [mine, theirs] = [await aProject(), await aProject()]
    const { key } = await anIngestKey(mine)
    await aWebhook(theirs, { slug: 'only-there' })
    const answer = await post(`${world.baseUrl}/v1/webhooks/${key}/only-there`, '{}')
    assert.deepEqual([answer.status, answer.body.reason], [404, 'endpoint_not_found'])
  })
})
