import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { aRule, aWebhook } from '../stage/fixtures.ts'
import {
  onConfigStage,
  world,
  sink,
  textOf,
  exported,
  endpoint,
  aFullProject,
  aProject,
  type Config,
} from '../stage/config-stage.ts'

onConfigStage()

describe('GET config/export', () => {
  test('the export has the form of the contract: 2-space JSON, members in order, nothing secret, and a list of what is not exported', async () => {
    const { project, secrets } = await aFullProject()
    const text = await textOf(project)
    const config = JSON.parse(text)
    assert.equal(text, `${JSON.stringify(config, null, 2)}\n`)
    const expected = {
      version: 1,
      project: project.slug,
      endpoints: [
        {
          name: 'Bare',
          slug: 'bare',
          dataset: 'bare',
          enabled: true,
          criteria: [],
          mappings: [],
          verification: { scheme: 'none' },
        },
        {
          name: 'Pay',
          slug: 'pay',
          dataset: 'pay',
          enabled: true,
          criteria: [{ path: 'kind', equals: 'paid' }],
          mappings: [{ target: 'sum', path: 'total' }],
          ip_allowlist: ['127.0.0.1', '::1'],
          verification: { scheme: 'payments_provider', tolerance_seconds: 60 },
          cors: { origins: ['https://shop.example'] },
          handshake: { kind: 'hub_challenge', has_verify_token: true },
          response: { status: 200, content_type: 'text/xml', body: '<Response/>' },
          body_as: 'text',
          split: 'lines',
          idempotency: { header: 'X-Delivery' },
          event_title: { path: 'kind' },
          refused_samples: false,
        },
      ],
      rules: [
        { name: 'All', dataset: 'everything', enabled: false, conditions: [], mappings: [] },
        {
          name: 'Large',
          dataset: 'large',
          enabled: true,
          conditions: [{ path: 'total', op: 'gt', value: 40 }],
          mappings: [],
        },
      ],
      record_views: [
        {
          dataset: 'pay',
          name: 'By total',
          endpoint: 'pay',
          columns: [
            { key: 'total', label: 'Total' },
            { key: 'kind', label: 'kind' },
          ],
          sort_key: 'total',
          sort_dir: 'desc',
        },
      ],
      transforms: [{ name: 'Same', language: 'ts', code: 'export const transform = (event: object) => event' }],
      destinations: [
        {
          name: 'ERP',
          url: sink.url,
          enabled: true,
          datasets: ['large'],
          conditions: [],
          retry: { schedule_seconds: [0, 60] },
          body: 'data',
          forward_headers: ['X-Shop'],
          transform: 'Same',
          headers: ['X-Tenant'],
          auth: { kind: 'basic', username: 'ada' },
          needs_secrets: ['auth.password', 'headers.X-Tenant'],
        },
        { name: 'Own', sink: true, enabled: true, datasets: null, conditions: [] },
      ],
      workflows: [],
      triggers: [],
      alert_rules: [],
      quiet_hours: [],
      not_exported: [{ kind: 'ingest_key', name: 'Checkout' }],
    }
    assert.equal(text, `${JSON.stringify(expected, null, 2)}\n`)
    for (const secret of secrets) assert.ok(!text.includes(secret), 'the export shows a secret')
  })

  test('the export does not depend on the order in which things were created', async () => {
    const [one, other] = [await aProject(), await aProject()]
    for (const [project, slugs] of [
      [one, ['b', 'a-1', 'a']],
      [other, ['a', 'b', 'a-1']],
    ] as const) {
      for (const slug of slugs) {
        await aWebhook(project, endpoint(slug))
        await aRule(project, { name: slug.toUpperCase(), dataset: 'd' })
      }
    }
    assert.equal(await textOf(one), (await textOf(other)).replace(other.slug, one.slug))
  })
})

test('the JSON Schema is served to everyone, accepts every export, and refuses everything else', async () => {
  const response = await fetch(`${world.baseUrl}/docs/project-config.schema.json`)
  assert.deepEqual(
    [response.status, response.headers.get('content-type')],
    [200, 'application/schema+json; charset=utf-8'],
  )
  const schema = (await response.json()) as Config
  assert.equal(schema['$id'], `${world.baseUrl}/docs/project-config.schema.json`)
  const format = z.fromJSONSchema(schema)
  const { project } = await aFullProject()
  const config = await exported(project)
  assert.equal(format.safeParse(config).error, undefined)
  assert.equal(format.safeParse({ $schema: schema['$id'], ...config }).success, true)
  for (const wrong of [
    { ...config, version: 2 },
    { ...config, secrets: [] },
    { ...config, rules: [{ name: 'x' }] },
    { ...config, rules: [{ name: 'x', dataset: 'd', when: [] }] },
    { ...config, endpoints: [{ ...config['endpoints'][1], secret: 'x' }] },
  ])
    assert.equal(format.safeParse(wrong).success, false, JSON.stringify(wrong).slice(0, 200))
})
