import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aName, aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Explanations of why an endpoint would file an event or not, and permission to run a trial (decisions on the decision
 * trace).
 */
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
const counts = ({ body }: Answer): number[] => [body.matched, body.tested]
const refused = (answer: Answer, what: RegExp): void => {
  assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(answer.body))
  assert.match(answer.body.error, what)
}

describe('POST webhooks/{id}/test', () => {
  test('the trial runs the saved criteria and mappings, or unsaved ones in their place, on payloads that the endpoint received', async () => {
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

  test('the trial reaches the same decision as ingest on every payload', async () => {
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

  test('an endpoint that does not exist or belongs to another project gives 404', async () => {
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

describe('permission to run a trial', () => {
  test('every role may run a trial, also in a suspended workspace, because a trial changes nothing', async () => {
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
