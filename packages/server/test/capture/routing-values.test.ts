import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aDestination, aName, anIngestKey, aWebhook, filedText, post, recordOf } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Numbers, constants and depth: every stored value is shown as it was written. */
let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
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

/** The answer byte for byte, because the parsers of the tests would round. */
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
  /** Digits that a double would lose, or would write differently. */
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

  test('a rule files numbers digit for digit as they were written, and shows them so', async () => {
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

  test('an endpoint does the same, also when a previous version of it is restored', async () => {
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

  test('a number in any other setting can have any notation', async () => {
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

describe('however deep a stored payload is, it is shown, and one Postroad can feed another', () => {
  test('a record that a mapping makes deeper than a body can be is shown whole, in every list', async () => {
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

  test('another Postroad accepts a delivery of the deepest payload and of the deepest record', async () => {
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
      await world.idle()
      const { records } = (await second.admin('GET', 'records')).body
      const heard = records.find(({ data }: Answer['body']) => data.id === record.id)
      assert.equal(JSON.stringify(heard.data.data), text)
      const dry = await second.admin('POST', `webhooks/${hearsId}/test`, { recent: 1 })
      assert.deepEqual([dry.body.results[0].error, dry.body.results[0].data.id], [null, record.id])
    }
  })

  test('an admin body that is too deep is refused with one sentence, and never with a 500', async () => {
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
