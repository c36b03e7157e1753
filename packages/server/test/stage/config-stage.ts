import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { aName, anIngestKey, aRule, aWebhook, behind } from './fixtures.ts'
import { aSink, aWorld, type Answer, type Sink, type World } from './harness.ts'

/** Projects as code (contract part 2, "Project configuration"): exported, planned and applied. */
export let world: World
export let database: Database
export let sink: Sink

export function onConfigStage(): void {
  before(async () => {
    world = await aWorld({ env: { ROLES: 'web', LOG_LEVEL: 'silent' } })
    database = behind(world)
    sink = await aSink()
  })
  after(async () => {
    await database.close()
    await world.stop()
    await sink.stop()
  })
}

export type Project = World & { readonly id: string; readonly slug: string }
export type Config = Record<string, any> // oxlint-disable-line typescript/no-explicit-any -- a file as a client without types reads it

export async function aProject(): Promise<Project> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  const { id, slug } = body.project
  return {
    ...world,
    id,
    slug,
    admin: (method, path, ...rest) => world.admin(method, `projects/${id}/${path}`, ...rest),
  }
}

export const textOf = async (project: Project): Promise<string> => {
  const response = await fetch(`${world.baseUrl}/admin/api/projects/${project.id}/config/export`, {
    headers: { authorization: `Bearer ${world.installed.api_key}` },
  })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  return response.text()
}
export const exported = async (project: Project): Promise<Config> => JSON.parse(await textOf(project))

export async function planned(project: Project, config: Config | string, more: object = {}): Promise<Config> {
  const body = typeof config === 'string' ? `{"config":${config}}` : { config, ...more }
  const answer = await project.admin('POST', 'config/plan', body)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.plan
}

export async function applied(project: Project, config: Config, more: object = {}): Promise<Config> {
  const answer = await project.admin('POST', 'config/apply', { config, ...more })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.applied
}

export const refused = (answer: Answer, what: RegExp): void => {
  assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(answer.body))
  assert.match(answer.body.error, what)
}

export const endpoint = (slug: string, more: object = {}) => ({
  name: slug,
  slug,
  dataset: slug.replaceAll('-', '_'),
  ...more,
})
export const urls = async (project: Project): Promise<readonly string[]> =>
  (await project.admin('GET', 'webhooks')).body.webhooks.map((webhook: Config) => webhook['webhook_slug'])
export const items = (kind: string, ...identities: string[]) => identities.map((identity) => ({ kind, identity }))

/** A project with one of everything, and its secrets. */
export async function aFullProject(): Promise<{ project: Project; secrets: readonly string[] }> {
  const project = await aProject()
  const verifying = await aWebhook(project, {
    name: 'Pay',
    slug: 'pay',
    criteria: [{ path: 'kind', equals: 'paid' }],
    mappings: [{ target: 'sum', path: 'total' }],
    ip_allowlist: ['127.0.0.1', '::1'],
    verification: { scheme: 'payments_provider', secret: 'secret-of-pay', tolerance_seconds: 60 },
    cors: { origins: ['https://shop.example'] },
    handshake: { kind: 'hub_challenge', verify_token: 'token-of-pay' },
    response: { status: 200, content_type: 'text/xml', body: '<Response/>' },
    body_as: 'text',
    split: 'lines',
    idempotency: { header: 'X-Delivery' },
    event_title: { path: 'kind' },
    refused_samples: false,
  })
  await aWebhook(project, { name: 'Bare', slug: 'bare' })
  const view = { columns: [{ key: 'total', label: 'Total' }, { key: 'kind' }], sort_key: 'total', sort_dir: 'desc' }
  await project.admin('POST', `webhooks/${verifying.id}/views`, { name: 'By total', ...view })
  await aRule(project, { name: 'Large', dataset: 'large', conditions: [{ path: 'total', op: 'gt', value: 40 }] })
  await aRule(project, { name: 'All', dataset: 'everything', enabled: false })
  const code = 'export const transform = (event: object) => event'
  const transform = await project.admin('POST', 'transforms', { name: 'Same', language: 'ts', code })
  const made = await project.admin('POST', 'destinations', {
    name: 'ERP',
    url: sink.url,
    datasets: ['large'],
    headers: { 'X-Tenant': 'value-of-tenant' },
    auth: { kind: 'basic', username: 'ada', password: 'password-of-erp' },
    retry: { schedule_seconds: [0, 60] },
    body: 'data',
    forward_headers: ['X-Shop'],
    transform_id: transform.body.transform.id,
  })
  const own = await project.admin('POST', 'destination-sinks', { name: 'Own', datasets: null })
  const { key } = await anIngestKey(project, { name: 'Checkout' })
  const secrets = [
    'secret-of-pay',
    'token-of-pay',
    'value-of-tenant',
    'password-of-erp',
    key,
    verifying.webhook_slug,
    made.body.signing_secret,
    own.body.signing_secret,
  ]
  return { project, secrets }
}
