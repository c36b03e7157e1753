import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { decodeId, encodeId, ROLES, routes, SECRET_PREFIXES, SERVICE_VERSION, signInRoutes, type Role, type Route, type SignInRoute } from '@postroad/contract'
import { z } from 'zod'
import { hashCredential } from '../src/platform/cipher.ts'
import { sql, type Database } from '../src/platform/db.ts'
import { randomText } from '../src/platform/ids.ts'
import { insertApiKey } from '../src/resources/api-keys/queries.ts'
import { insertCredential } from '../src/resources/credentials/queries.ts'
import { insertProject } from '../src/resources/projects/index.ts'
import { insertWorkspace } from '../src/resources/workspaces/index.ts'
import { aName, behind, signedIn } from './fixtures.ts'
import { aMember, aReadyExport, aWorkspace } from './people.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World } from './harness.ts'

let world: World
let database: Database
let sink: Sink
let home: Place
let foreign: Place

before(async () => {
  world = await aWorld()
  database = behind(world)
  sink = await aSink()
  const key = world.installed.api_key
  const at = await database.one<{ workspace_id: string; id: string }>(sql`select workspace_id, id from projects where is_default`)
  home = { key, workspaceId: at.workspace_id, projectId: at.id, project: world.installed.project.id }
  foreign = await aForeignPlace()
})
after(async () => {
  await database.close()
  await world.stop()
  await sink.stop()
})

// Places and keys, made behind the server's back where no route makes them yet

type Place = { readonly key: string; readonly workspaceId: string; readonly projectId: string; readonly project: string }

const now = (): Date => new Date(world.clock.now())

async function aForeignPlace(): Promise<Place> {
  const { uuid } = world.app.deps
  const [workspaceId, projectId] = [uuid(), uuid()]
  await insertWorkspace(database, { id: workspaceId, slug: 'foreign', name: 'Foreign', now: now() })
  await insertProject(database, { workspaceId, id: projectId, slug: 'default', name: 'Default', isDefault: true, now: now() })
  const place = { workspaceId, projectId, project: encodeId('project', projectId) }
  return { ...place, key: await aKey({ workspaceId }, { role: 'admin' }) }
}

type KeyOptions = { role: Exclude<Role, 'owner'>; of?: Role; projectId?: string; expiresAt?: Date }

/** An admin API key of a member of its own, whose role is `of` (owner when absent). */
async function aKey(at: { workspaceId: string }, { role, of = 'owner', projectId, expiresAt }: KeyOptions): Promise<string> {
  const { uuid } = world.app.deps
  const [userId, id, key] = [uuid(), uuid(), SECRET_PREFIXES.apiKey + randomText(43)]
  await database.run(sql`insert into users (id, name, created_at) values (${userId}, 'Somebody', ${now()})`)
  await database.run(sql`insert into members (workspace_id, user_id, role, created_at) values (${at.workspaceId}, ${userId}, ${of}, ${now()})`)
  const bounds = { project_id: projectId ?? null, expires_at: expiresAt ?? null, ip_allowlist: [] }
  await insertApiKey(database, { ...at, id, name: 'test', shown_prefix: key.slice(0, 11), role, ...bounds, created_by: userId, now: now() })
  await insertCredential(database, { ...at, hash: hashCredential(key), kind: 'api_key', projectId: null, subjectId: id })
  return key
}

// The contract as a list, and an example for each of its routes

type Named = { readonly name: string; readonly route: Route }
const ALL: readonly Named[] = Object.entries(routes).flatMap(([room, verbs]) =>
  Object.entries<Route>(verbs).map(([verb, route]) => ({ name: `${room}.${verb}`, route })),
)
const LISTS = ALL.filter(({ name, route }) => name.endsWith('.list') && !route.path.includes('{') && route.query !== undefined)

/** `by`: somebody of their own, where a member of the place would be gone afterwards; `target`: what the audit row names. */
type Asked = { readonly by?: Credential; readonly actor?: string; readonly target?: string; readonly params?: Record<string, string>; readonly query?: Record<string, string>; readonly body?: object }
type Example = (at: Place) => Promise<Asked> | Asked

const created = async (at: Place, path: string, body: object): Promise<Answer['body']> => {
  const answer = await call(at, `POST ${path}`, { body: { name: aName('made'), ...body } })
  assert.equal(answer.status, 201, `POST ${path}: ${answer.text}`)
  return answer.body
}
const withId = (id: string): Asked => ({ params: { id } })
const aWebhookIn = async (at: Place): Promise<Asked> => withId((await created(at, 'webhooks', {})).webhook.id)
const aRuleIn = async (at: Place): Promise<Asked> => withId((await created(at, 'rules', { dataset: 'routed' })).rule.id)
const aDatasetIn = async (at: Place): Promise<Asked> => withId((await created(at, 'datasets', { name: `d${randomUUID().slice(0, 8)}` })).dataset.id)
const anIngestKeyIn = async (at: Place): Promise<Asked> => withId((await created(at, 'ingest-keys', {})).ingest_key.id)
const aProjectIn = async (at: Place): Promise<Asked> => withId((await created(at, 'projects', {})).project.id)

/** Subscribed to nothing that exists, unless the dataset says otherwise. */
const aDestinationIn = async (at: Place, dataset = 'Nothing'): Promise<Asked> =>
  withId((await created(at, 'destinations', { url: sink.url, datasets: [dataset] })).destination.id)

const withBody = async (asked: Asked | Promise<Asked>, body: object): Promise<Asked> => ({ ...(await asked), body })

async function anEventIn(at: Place): Promise<Answer['body']> {
  const { key } = await created(at, 'ingest-keys', {})
  const response = await fetch(`${world.baseUrl}/v1/ingest/${key}/filed`, { method: 'POST', body: '{"a":1}' })
  assert.equal(response.status, 201)
  return response.json()
}

async function aDeliveredIn(at: Place): Promise<Asked> {
  const dataset = `e${randomUUID().slice(0, 8)}`
  const { params } = await aDestinationIn(at, dataset)
  const { key } = await created(at, 'ingest-keys', {})
  assert.equal((await fetch(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, { method: 'POST', body: '{"a":1}' })).status, 201)
  const found = await eventually(async () => {
    const { body } = await call(at, 'GET deliveries', { query: { state: 'delivered', destination_id: params?.['id'] ?? '' } })
    return body.deliveries[0]
  }, 2_000)
  return withId(found.id)
}

/** A delivery that was tried once and waits for its next attempt. */
async function aWaitingIn(at: Place): Promise<Asked> {
  const dataset = `e${randomUUID().slice(0, 8)}`
  const { destination } = await created(at, 'destinations', { url: 'http://127.0.0.1:9/', datasets: [dataset], retry: { schedule_seconds: [0, 86_400] } })
  const { key } = await created(at, 'ingest-keys', {})
  assert.equal((await fetch(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, { method: 'POST', body: '{"a":1}' })).status, 201)
  const found = await eventually(async () => (await call(at, 'GET deliveries', { query: { state: 'retrying', destination_id: destination.id } })).body.deliveries[0])
  return withId(found.id)
}

/** A filter that a delivery meets, in a project with no other replay open: they do not end while the clock stands still. */
async function deliveredOnly(at: Place): Promise<object> {
  await database.run(sql`update replays set state = 'cancelled', pause_reason = null, ended_at = now() where workspace_id = ${at.workspaceId} and state in ('running', 'paused')`)
  const { delivery } = (await call(at, `GET deliveries/${(await aDeliveredIn(at)).params?.['id']}`)).body
  return { state: ['delivered'], destination_id: delivery.destination_id }
}

async function aReplayIn(at: Place): Promise<Asked> {
  return withId((await call(at, 'POST deliveries/replays', { body: { filter: await deliveredOnly(at) } })).body.replay.id)
}

/** A request that an endpoint refuses, once it stands in the rejection log. */
async function aRefusalIn(at: Place): Promise<Asked> {
  const { webhook } = await created(at, 'webhooks', { enabled: false })
  assert.equal((await fetch(webhook.public_url, { method: 'POST', body: '{}' })).status, 503)
  await eventually(async () => {
    world.clock.advance(1_000)
    return itemsOf(await call(at, 'GET rejections', { query: { webhook_id: webhook.id } }))[0]
  })
  return withId(webhook.id)
}

const anApiKeyIn = async (at: Place): Promise<Asked> => withId((await personally(at, 'POST api-keys', { name: aName('made'), role: 'viewer' })).body.api_key.id)

/** Somebody with a workspace of their own. */
async function anotherOwner(): Promise<Required<Pick<Asked, 'by' | 'actor'>> & { readonly slug: string; readonly workspaceId: string; readonly userId: string }> {
  const slug = `w${randomUUID().slice(0, 8)}`
  const owner = await aWorkspace(world, database, slug)
  return { ...owner, slug, by: { headers: await signedIn(world, owner) }, actor: encodeId('user', owner.userId) }
}

/** A member who may go. */
async function aMemberIn(at: Place): Promise<Asked> {
  const { userId } = await aMember(world, database, { workspaceId: at.workspaceId, role: 'viewer' })
  return withId(encodeId('user', userId))
}

async function aLeaver(at: Place): Promise<Asked> {
  const member = await aMember(world, database, { workspaceId: at.workspaceId, role: 'developer' })
  const actor = encodeId('user', member.userId)
  return { by: { headers: await signedIn(world, member) }, actor, target: actor, body: {} }
}

async function aTransfer(): Promise<Asked> {
  const { workspaceId, ...owner } = await anotherOwner()
  const { userId } = await aMember(world, database, { workspaceId, role: 'viewer' })
  return { ...owner, body: { user_id: encodeId('user', userId) } }
}

const anInviteIn = async (at: Place): Promise<Asked> => withId((await personally(at, 'POST invites', { email: `${randomUUID()}@example.com`, role: 'viewer' })).body.invite.id)

/** An invite from the place to somebody who is elsewhere; the token is as if it had been mailed. */
async function anAcceptance(at: Place): Promise<Asked> {
  const { workspaceId: _, ...guest } = await anotherOwner()
  const [email, token] = [`${randomUUID()}@example.com`, `canary-${randomText(20)}`]
  await database.run(sql`update users set email = ${email} where id = ${guest.userId}`)
  const { invite } = (await personally(at, 'POST invites', { email, role: 'viewer' })).body
  await database.run(sql`update invites set token_hash = ${hashCredential(token)} where email = ${email}`)
  return { ...guest, target: invite.id, body: { token } }
}

async function aClosed(): Promise<Asked> {
  const owner = await anotherOwner()
  assert.equal((await call(owner.by, 'POST workspace/close', { body: { confirm: owner.slug } })).status, 200)
  return owner
}

async function aSwitch(): Promise<Asked> {
  const owner = await anotherOwner()
  const { workspace } = (await call(owner.by, 'POST workspaces', { body: { name: aName('other') } })).body
  return { ...owner, body: { workspace_id: workspace.id } }
}

async function aClosing(): Promise<Asked> {
  const owner = await anotherOwner()
  return { ...owner, body: { confirm: owner.slug } }
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  'activity.list': aRefusalIn,
  'apiKeys.list': () => ({}),
  'apiKeys.create': () => ({ body: { name: aName('made'), role: 'developer', ip_allowlist: ['127.0.0.1', '::/0'] } }),
  'apiKeys.remove': anApiKeyIn,
  'audit.list': () => ({ query: { action: 'create_ingest_key' } }),
  'audit.exportCsv': () => ({ query: { action: 'create_webhook' } }),
  'audit.verify': () => ({}),
  'dashboard.summary': () => ({ query: { from: new Date(world.clock.now() - 3_600_000).toISOString() } }),
  'dashboard.timeseries': () => ({}),
  'dataExport.list': () => ({}),
  'dataExport.create': anEmptyShelf,
  'dataExport.get': anExportIn,
  'dataExport.remove': anExportIn,
  'dataExport.download': anExportIn,
  'datasets.list': () => ({}),
  'datasets.create': () => ({ body: { name: `d${randomUUID().slice(0, 8)}`, description: 'Orders' } }),
  'datasets.get': aDatasetIn,
  'datasets.update': (at) => withBody(aDatasetIn(at), { description: 'Other' }),
  'deliveries.list': () => ({ query: { state: 'delivered' } }),
  'deliveries.get': aDeliveredIn,
  'deliveries.replay': aDeliveredIn,
  'deliveries.retry': aWaitingIn,
  'deliveries.cancel': aWaitingIn,
  'destinations.list': () => ({}),
  'destinations.create': () => ({ body: { name: aName('made'), url: sink.url, datasets: ['Nothing'], headers: { 'X-A': 'canary-header' } } }),
  'destinations.get': aDestinationIn,
  'destinations.update': (at) => withBody(aDestinationIn(at), { timeout_ms: 2_000 }),
  'destinationPreviews.make': async (at) => ({ body: { url: sink.url, record_id: (await anEventIn(at)).records[0].id } }),
  'destinationPresets.list': () => ({}),
  'destinations.remove': (at) => aDestinationIn(at),
  'destinations.recover': (at) => withBody(aDestinationIn(at), { since: '2026-01-01T00:00:00Z' }),
  'destinations.test': (at) => withBody(aDestinationIn(at), {}),
  'destinations.health': (at) => aDestinationIn(at),
  'destinations.revealSecret': (at) => aDestinationIn(at),
  'destinations.rotateSecret': (at) => withBody(aDestinationIn(at), { overlap_hours: 1 }),
  'ingestKeys.list': () => ({}),
  'ingestKeys.create': () => ({ body: { name: aName('made') } }),
  'ingestKeys.get': anIngestKeyIn,
  'ingestKeys.update': (at) => withBody(anIngestKeyIn(at), { enabled: false, require_signature: true }),
  'ingestKeys.rotateSigningSecret': async (at) => ({ ...withId((await created(at, 'ingest-keys', { require_signature: true })).ingest_key.id), body: { overlap_hours: 1 } }),
  'ingestKeys.remove': anIngestKeyIn,
  'invites.list': () => ({}),
  'invites.create': () => ({ body: { email: `${randomUUID()}@example.com`, role: 'developer' } }),
  'invites.remove': anInviteIn,
  'invites.resend': anInviteIn,
  'invites.accept': anAcceptance,
  'me.get': () => ({}),
  'members.list': () => ({}),
  'members.update': (at) => withBody(aMemberIn(at), { role: 'developer' }),
  'members.remove': aMemberIn,
  'members.leave': aLeaver,
  'members.transferOwnership': aTransfer,
  'projects.list': () => ({}),
  'projects.create': () => ({ body: { name: aName('made') } }),
  'projects.get': aProjectIn,
  'projects.update': (at) => withBody(aProjectIn(at), { name: aName('renamed') }),
  'projects.remove': aProjectIn,
  'records.list': () => ({ query: { dataset: 'filed' } }),
  'records.get': async (at) => withId((await anEventIn(at)).records[0].id),
  'records.listOfWebhook': aWebhookIn,
  'recordViews.list': aWebhookIn,
  'recordViews.create': (at) => withBody(aWebhookIn(at), { name: 'v', columns: [{ key: 'a' }] }),
  'recordViews.get': aViewIn,
  'recordViews.update': (at) => withBody(aViewIn(at), { name: 'w' }),
  'recordViews.remove': aViewIn,
  'rejections.list': () => ({ query: { reason: 'endpoint_disabled' } }),
  'replays.list': () => ({}),
  'replays.create': async (at) => ({ body: { filter: await deliveredOnly(at) } }),
  'replays.get': aReplayIn,
  'replays.pause': aReplayIn,
  'replays.resume': async (at) => {
    const asked = await aReplayIn(at)
    assert.equal((await call(at, `POST deliveries/replays/${asked.params?.['id']}/pause`)).status, 200)
    return asked
  },
  'replays.cancel': aReplayIn,
  'rules.list': () => ({}),
  'rules.create': () => ({ body: { name: aName('made'), dataset: 'routed', conditions: [{ path: 'a', op: 'gt', value: 5 }] } }),
  'rules.get': aRuleIn,
  'rules.update': (at) => withBody(aRuleIn(at), { enabled: false }),
  'rules.remove': aRuleIn,
  'rules.test': () => ({ body: { conditions: [{ path: 'a', equals: 1 }], payloads: [{ a: 1, b: 'canary-payload' }] } }),
  'search.deliveries': () => ({ query: { state: 'delivered,failed', q: 'a' } }),
  'search.events': () => ({ query: { dataset: 'filed', f: 'a:equals:1' } }),
  'search.correlate': async (at) => withId((await anEventIn(at)).id),
  'submissions.list': () => ({}),
  'submissions.get': async (at) => withId((await anEventIn(at)).id),
  'webhooks.list': () => ({}),
  'webhooks.create': () => ({ body: { name: aName('made'), verification: { scheme: 'code_host', secret: 'canary-verification' }, handshake: { kind: 'hub_challenge', verify_token: 'canary-token' } } }),
  'webhooks.get': aWebhookIn,
  'webhooks.update': (at) => withBody(aWebhookIn(at), { enabled: false }),
  'webhooks.remove': aWebhookIn,
  'webhooks.test': (at) => withBody(aWebhookIn(at), { payloads: [{ a: 'canary-payload' }] }),
  'webhooks.rotate': (at) => withBody(aWebhookIn(at), { overlap_hours: 1 }),
  'webhooks.rotateVerificationSecret': (at) => withBody(aVerifyingWebhookIn(at), { secret: 'canary-rotated', overlap_hours: 1 }),
  'webhooks.listVersions': aWebhookIn,
  'webhooks.getVersion': aVersionIn,
  'webhooks.restoreVersion': (at) => withBody(aVersionIn(at), {}),
  'workspaces.list': () => ({}),
  'workspaces.create': () => ({ body: { name: aName('made') } }),
  'workspaces.switch': aSwitch,
  'workspaces.get': () => ({}),
  'workspaces.update': () => ({ body: { name: aName('renamed') } }),
  'workspaces.close': aClosing,
  'workspaces.reopen': aClosed,
  'webhooks.verifySample': (at) => withBody(aWebhookIn(at), { headers: {}, body: '{}' }),
}

async function anExportIn(at: Place): Promise<Asked> {
  return withId(await aReadyExport(world, database, at))
}

/** With an export under way, or with all that are kept, nobody could ask for one. */
async function anEmptyShelf({ workspaceId }: Place): Promise<Asked> {
  await database.run(sql`update data_exports set state = 'failed', expires_at = null where workspace_id = ${workspaceId}`)
  return {}
}

async function aVerifyingWebhookIn(at: Place): Promise<Asked> {
  return withId((await created(at, 'webhooks', { verification: { scheme: 'hmac', secret: 'whispered' } })).webhook.id)
}

async function aVersionIn(at: Place): Promise<Asked> {
  const { params } = await aWebhookIn(at)
  return { params: { ...params, version: '1' } }
}

async function aViewIn(at: Place): Promise<Asked> {
  const { params } = await aWebhookIn(at)
  const { view } = await created(at, `webhooks/${params?.['id']}/views`, { columns: [{ key: 'a' }] })
  return { params: { ...params, view_id: view.id } }
}

// Asking

type Sent = { readonly query?: Record<string, string>; readonly body?: unknown; readonly headers?: Record<string, string>; readonly raw?: string }
type Heard = Answer & { readonly text: string }

/** A request with the key of a place: `POST datasets` is POST /admin/api/datasets. `raw` is a body as it is. */
async function call(by: Credential | undefined, line: string, sent: Sent = {}): Promise<Heard> {
  const [method = 'GET', path = ''] = line.split(' ')
  const search = new URLSearchParams(sent.query).toString()
  const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
  const response = await fetch(`${world.baseUrl}/admin/api/${path}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: {
      ...(by === undefined ? {} : 'key' in by ? { authorization: `Bearer ${by.key}` } : by.headers),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...sent.headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  said.push(text)
  return { status: response.status, headers: response.headers, body: bodyIn(response, text), text }
}

/** The JSON of an answer, or the text of a file. */
function bodyIn({ headers }: Response, text: string): Answer['body'] {
  if (text === '') return undefined
  return headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : text
}

type Credential = Pick<Place, 'key'> | { readonly headers: Readonly<Record<string, string>> }

/** The owners of the places, as pages of the console speak for them. */
const owners = new Map<string, Promise<Record<string, string>>>()

async function ownerOf({ workspaceId }: Pick<Place, 'workspaceId'>): Promise<Credential> {
  const found = owners.get(workspaceId)
  if (found !== undefined) return { headers: await found }
  const { user_id: userId } = await database.one<{ user_id: string }>(sql`select user_id from members where workspace_id = ${workspaceId} and role = 'owner' order by created_at limit 1`)
  const signing = signedIn(world, { workspaceId, userId })
  owners.set(workspaceId, signing)
  return { headers: await signing }
}

/** The key of a place, or its owner where no key may. */
const whoCalls = async ({ route }: Named, at: Place): Promise<Credential> => (route.callers === 'people' ? ownerOf(at) : at)
const personally = async (at: Place, line: string, body?: object): Promise<Heard> => call(await ownerOf(at), line, body === undefined ? {} : { body })

/** Everything that any answer in this file said. */
const said: string[] = []

function pathOf({ route }: Named, asked: Asked, project?: string): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => asked.params?.[name] ?? name)
  return project === undefined || route.area === 'workspace' ? path : `projects/${project}/${path}`
}

const ask = async (named: Named, at: Place, options: { asked: Asked; project?: string }): Promise<Heard> =>
  askBy(options.asked.by ?? (await whoCalls(named, at)), named, options)

const askBy = (by: Credential, named: Named, options: { asked: Asked; project?: string }): Promise<Heard> =>
  call(by, `${named.route.method} ${pathOf(named, options.asked, options.project)}`, { ...(options.asked.query === undefined ? {} : { query: options.asked.query }), ...(options.asked.body === undefined ? {} : { body: options.asked.body }) })

const example = async ({ name }: Named, at: Place): Promise<Asked> => EXAMPLES[name]?.(at) ?? assert.fail(`${name} has no example`)

function assertRefused(answer: Heard, status: number, reason: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.reason, reason, answer.text)
  assert.match(answer.body.error, /^\S.*[.…]$/)
  assertHeaded(answer)
}

function assertHeaded(answer: Heard, type = 'application/json'): void {
  assert.match(answer.headers.get('request-id') ?? '', /^req_[0-9a-z]+$/)
  assert.equal(answer.headers.get('service-version'), SERVICE_VERSION)
  assert.equal(answer.headers.get('content-type')?.startsWith(type), true, type)
}

const typeOf = ({ download }: Route): string => download?.type ?? 'application/json'
const cachingOf = ({ showsSecret, download }: Route): string | null => (showsSecret === true || download !== undefined ? 'no-store' : null)

// Every route

test('every route has an example here', () => {
  assert.deepEqual(ALL.map(({ name }) => name).filter((name) => EXAMPLES[name] === undefined), [])
})

test('every route answers as the contract and /openapi.json say, under its project and, for the Default project, under the root', async () => {
  const openapi = (await (await fetch(`${world.baseUrl}/openapi.json`)).json()) as OpenApi
  for (const named of ALL) {
    const { route, name } = named
    for (const project of route.area === 'project' ? [home.project, undefined] : [undefined]) {
      const answer = await ask(named, home, { asked: await example(named, home), ...(project === undefined ? {} : { project }) })
      assert.equal(answer.status, route.status, `${name}: ${answer.text}`)
      assertHeaded(answer, typeOf(route))
      assert.equal(answer.headers.get('cache-control'), cachingOf(route), name)
      const template = `/admin/api/${project === undefined ? '' : 'projects/{project_id}/'}${route.path}`
      const operation = openapi.paths[template]?.[route.method.toLowerCase()]
      assert.ok(operation, template)
      const schema = operation.responses[String(route.status)]?.content?.[typeOf(route)]?.schema
      assert.deepEqual(z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema).safeParse(answer.body).error, undefined, name)
    }
  }
})

test('what is read under the root is what is read under the Default project', async () => {
  for (const named of ALL.filter(({ route }) => route.area === 'project' && route.method === 'GET')) {
    const asked = await example(named, home)
    const [alias, whole] = [await ask(named, home, { asked }), await ask(named, home, { asked, project: home.project })]
    assert.deepEqual(alias.body, whole.body, named.name)
  }
})

test('without a key, with a wrong one or with another scheme every route answers 401', async () => {
  for (const named of ALL) {
    const path = pathOf(named, { params: {} })
    for (const authorization of [undefined, 'Bearer hk_unknown', 'Bearer ik_live_x', `Basic ${home.key}`, 'Bearer', home.key]) {
      const answer = await call(undefined, `${named.route.method} ${path}`, authorization === undefined ? {} : { headers: { authorization } })
      assertRefused(answer, 401, 'unauthorized')
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
    }
  }
})

test('a cookie without X-Requested-With changes nothing, whatever is asked with it', async () => {
  for (const named of ALL.filter(({ route }) => route.method !== 'GET')) {
    const asked = await example(named, home)
    const by = asked.by ?? (await ownerOf(home))
    assert.ok('headers' in by)
    const { 'x-requested-with': _page, ...cookieAlone } = by.headers
    const had = (await auditRows()).length
    assertRefused(await askBy({ headers: cookieAlone }, named, { asked }), 403, 'csrf_header_missing')
    assert.equal((await auditRows()).length, had, named.name)
  }
  const { cookie = '' } = await signedIn(world, await anotherOwner())
  for (const { method, path } of Object.values<SignInRoute>(signInRoutes).filter((route) => route.method !== 'GET')) {
    const had = (await auditRows()).length
    assertRefused(await call({ headers: { cookie } }, `${method} ${path}`, { body: {} }), 403, 'csrf_header_missing')
    assert.equal((await auditRows()).length, had, path)
  }
})

test('every route takes the served Service-Version and refuses every other with the list', async () => {
  for (const named of ALL) {
    const refused = await call(home, `${named.route.method} ${pathOf(named, {})}`, { headers: { 'service-version': '2020-01-01' } })
    assertRefused(refused, 400, 'unsupported_version')
    assert.deepEqual(refused.body.supported_versions, [SERVICE_VERSION])
  }
  assert.equal((await call(home, 'GET me', { headers: { 'service-version': SERVICE_VERSION } })).status, 200)
})

test('each role may call what the contract says, and nothing above it', async () => {
  for (const role of ['viewer', 'developer', 'admin'] as const) {
    const key = await aKey(home, { role })
    for (const named of ALL) {
      const may = ROLES.indexOf(role) >= ROLES.indexOf(named.route.role)
      // Who may not call it is refused before anything is looked up.
      const answer = await askBy({ key }, named, { asked: may ? await example(named, home) : {} })
      if (named.route.callers === 'people') {
        assertRefused(answer, 403, 'agent_not_permitted')
        assert.equal(answer.body.code, 'agent_not_permitted')
      } else if (may) assert.equal(answer.status, named.route.status, `${role} ${named.name}: ${answer.text}`)
      else {
        assertRefused(answer, 403, 'insufficient_role')
        assert.equal(answer.body.code, 'insufficient_role')
        assert.match(answer.body.error, new RegExp(`${named.route.role}.*${role}`))
      }
    }
  }
})

test('a key is capped at what its creator may do at this moment, and ends with its creator', async () => {
  const key = await aKey(home, { role: 'admin', of: 'developer' })
  assert.equal((await call({ key }, 'POST projects', { body: { name: 'x' } })).body.reason, 'insufficient_role')
  assert.equal((await call({ key }, 'GET me')).body.role, 'developer')
  await database.run(sql`update members set role = 'viewer' where role = 'developer'`)
  assert.equal((await call({ key }, 'POST datasets', { body: { name: 'x' } })).body.reason, 'insufficient_role')
  await database.run(sql`delete from members where role = 'viewer'`)
  assertRefused(await call({ key }, 'GET me'), 401, 'unauthorized')
})

test('a key that has expired or was revoked answers 401 and says so', async () => {
  const key = await aKey(home, { role: 'admin', expiresAt: new Date(world.clock.now() + 60_000) })
  assert.equal((await call({ key }, 'GET me')).status, 200)
  world.clock.advance(60_000)
  assertRefused(await call({ key }, 'GET me'), 401, 'api_key_expired')
  const other = await aKey(home, { role: 'admin' })
  await database.run(sql`update api_keys set revoked_at = now() where shown_prefix = ${other.slice(0, 11)}`)
  assertRefused(await call({ key: other }, 'GET me'), 401, 'api_key_revoked')
})

test('a key for one project reaches that project and /me, and nothing else', async () => {
  const { params } = await aProjectIn(home)
  const project = params?.['id'] ?? ''
  const inside: Place = { ...home, key: await aKey(home, { role: 'admin', projectId: decodeId('project', project) ?? '' }), project }
  for (const named of ALL) {
    const asked: Asked = { params: {} }
    if (named.route.area === 'project') {
      const personal = named.route.callers === 'people'
      const outside = personal ? 'agent_not_permitted' : 'project_out_of_scope'
      assertRefused(await askBy(inside, named, { asked }), 403, outside)
      assertRefused(await askBy(inside, named, { asked, project: home.project }), 403, outside)
      if (personal) continue
      const reached = await askBy(inside, named, { asked, project })
      assert.ok([200, 400, 404].includes(reached.status), `${named.name}: ${reached.text}`)
    } else if (named.route.forOneProjectKeys !== true) {
      assertRefused(await askBy(inside, named, { asked }), 403, named.route.callers === 'people' ? 'agent_not_permitted' : 'project_out_of_scope')
    }
  }
  const me = await call(inside, 'GET me')
  assert.equal(me.body.api_key.project_id, project)
  assert.equal((await call(inside, `POST projects/${project}/datasets`, { body: { name: 'mine' } })).status, 201)
})

test('an id that is foreign, unknown, of another kind or no id at all answers 404, and always the same one', async () => {
  for (const named of ALL.filter(({ route }) => route.path.includes('{'))) {
    const own = await example(named, home)
    const theirs = await example(named, foreign)
    const kind = (theirs.params?.['id'] ?? '').slice(0, 3)
    const unknown = `${kind}_${'0'.repeat(26)}`
    const texts = new Set<string>()
    for (const id of [theirs.params?.['id'] ?? '', unknown, `usr_${'0'.repeat(26)}`, 'nonsense', `${kind}_`, `${unknown}0`, unknown.toUpperCase(), '%00', "'"]) {
      const answer = await ask(named, home, { asked: { ...own, params: { ...own.params, id } } })
      assertRefused(answer, 404, 'not_found')
      texts.add(answer.text)
    }
    assert.equal(texts.size, 1, named.name)
  }
})

test('what is in another project or workspace is not there', async () => {
  const { params } = await aProjectIn(home)
  const other = params?.['id'] ?? ''
  const strangers = [foreign.project, `prj_${'0'.repeat(26)}`, 'nonsense']
  for (const named of ALL.filter(({ route }) => route.area === 'project')) {
    for (const project of strangers) assertRefused(await ask(named, home, { asked: { params: {} }, project }), 404, 'not_found')
    if (!named.route.path.includes('{')) continue
    assertRefused(await ask(named, home, { asked: await example(named, home), project: other }), 404, 'not_found')
  }
  for (const list of LISTS.filter(({ route }) => route.area === 'project')) {
    const answer = await ask(list, home, { asked: {}, project: other })
    assert.deepEqual([answer.status, itemsOf(answer)], [200, []], list.name)
  }
})

test('a body that is no JSON object, or has a member too many, is refused with what is wrong', async () => {
  for (const named of ALL.filter(({ route }) => route.body !== undefined)) {
    const { method } = named.route
    const by = await whoCalls(named, home)
    const asked = await example(named, home)
    const path = pathOf(named, asked)
    const extra = await call(by, `${method} ${path}`, { body: { ...asked.body, frobnicate: 1 } })
    assertRefused(extra, 400, 'invalid_request')
    assert.equal(extra.body.error, 'body: "frobnicate" is not a member of this request; remove it.')
    for (const raw of ['{"name":', 'name=x', '\0']) {
      const broken = await call(by, `${method} ${path}`, { raw })
      assertRefused(broken, 400, 'invalid_request')
      assert.match(broken.body.error, /not valid JSON/)
    }
    for (const raw of ['[]', '"x"', '1', 'null', 'true']) assertRefused(await call(by, `${method} ${path}`, { raw }), 400, 'invalid_request')
    const proto = await call(by, `${method} ${path}`, { raw: JSON.stringify({ ...asked.body }).replace(/\}$/, ',"__proto__":{"admin":true}}').replace('{,', '{') })
    assertRefused(proto, 400, 'invalid_request')
  }
})

test('unknown query parameters are ignored', async () => {
  for (const named of ALL.filter(({ route }) => route.method === 'GET')) {
    const asked = await example(named, home)
    const answer = await ask(named, home, { asked: { ...asked, query: { ...asked.query, frobnicate: '1' } } })
    assert.equal(answer.status, 200, named.name)
  }
})

test('a body larger than 1 MiB answers 413', async () => {
  assertRefused(await call(home, 'POST datasets', { raw: `{"name":"${'x'.repeat(1_048_577)}"}` }), 413, 'payload_too_large')
})

test('another method than those of the contract answers 405 and says which are allowed; another address 404', async () => {
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  for (const path of new Set(ALL.map(({ route }) => route.path))) {
    // rules/test is also an address of the form rules/{id}.
    const answering = ALL.filter(({ route }) => new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    const allowed = [...new Set(answering.map(({ route }) => route.method))]
    for (const method of methods.filter((one) => !allowed.some((known) => known === one))) {
      const answer = await call(home, `${method} ${path}`)
      assertRefused(answer, 405, 'method_not_allowed')
      const told = answer.headers.get('allow')?.split(', ').filter((one) => one !== 'HEAD') ?? []
      assert.deepEqual(told.toSorted(), allowed.toSorted(), `${method} ${path}`)
    }
  }
  for (const path of ['nothing', 'projects/x/y/z/w', 'webhooks/x/nothing', '']) assertRefused(await call(home, `GET ${path}`), 404, 'route_not_found')
})

test('while the workspace is suspended reads go on, and each write is refused', async () => {
  const examples = await Promise.all(ALL.map(async (named) => ({ named, asked: await example(named, home) })))
  await database.run(sql`update workspaces set suspended_at = now()`)
  try {
    for (const { named, asked } of examples) {
      const answer = await ask(named, home, { asked })
      if (named.route.whileSuspended === 'refused') assertRefused(answer, 403, 'workspace_suspended')
      else assert.equal(answer.status, named.route.status, named.name)
    }
    assert.equal((await call(home, 'GET me')).body.workspace.suspended, true)
  } finally {
    await database.run(sql`update workspaces set suspended_at = null`)
  }
})

// Lists

function itemsOf({ body }: Heard): { readonly id: string }[] {
  const { next_cursor: _cursor, ...rest } = body
  const [items] = Object.values(rest)
  return items as { id: string }[]
}

test('every list is paged newest first: each item once, also when new ones come in between', async () => {
  for (const list of LISTS) {
    const maker = ALL.find(({ name }) => name === list.name.replace('.list', '.create'))
    for (let count = 0; count < 5; count += 1) {
      if (maker !== undefined) await ask(maker, home, { asked: await example(maker, home) })
      else if (list.name === 'deliveries.list') await aDeliveredIn(home)
      else if (list.name === 'rejections.list') await aRefusalIn(home)
      else await anEventIn(home)
    }
    const { query } = await example(list, home)
    const whole = itemsOf(await ask(list, home, { asked: { query: { ...query, limit: '200' } } })).map(({ id }) => id)
    assert.ok(whole.length >= 5)
    assert.deepEqual(whole, whole.toSorted().toReversed(), `${list.name} is newest first`)
    const exact = await ask(list, home, { asked: { query: { ...query, limit: String(whole.length) } } })
    assert.equal(exact.body.next_cursor, null, 'there is no page after the last item')
    const paged: string[] = []
    let cursor: string | null = null
    do {
      const page: Heard = await ask(list, home, { asked: { query: { ...query, limit: '2', ...(cursor === null ? {} : { cursor }) } } })
      assert.ok(itemsOf(page).length <= 2)
      paged.push(...itemsOf(page).map(({ id }) => id))
      cursor = page.body.next_cursor
      if (maker !== undefined && paged.length === 4) await ask(maker, home, { asked: await example(maker, home) })
    } while (cursor !== null)
    assert.deepEqual(paged, whole, list.name)
  }
})

test('a limit or a cursor that is none is refused, and the limits of a page hold', async () => {
  for (const list of LISTS) {
    for (const limit of ['0', '-1', '201', '1.5', 'x', '']) assertRefused(await ask(list, home, { asked: { query: { limit } } }), 400, 'invalid_request')
    for (const cursor of ['x', 'AAAA', '../..', "'"]) assertRefused(await ask(list, home, { asked: { query: { cursor } } }), 400, 'invalid_request')
    assert.equal((await ask(list, home, { asked: { query: { limit: '1' } } })).body.next_cursor?.length > 0, true)
  }
})

test('deliveries are filtered by state, destination and record; submissions by endpoint; records by dataset', async () => {
  const { params } = await aDeliveredIn(home)
  const { delivery } = (await call(home, `GET deliveries/${params?.['id']}`)).body
  const found = async (query: Record<string, string>): Promise<string[]> => itemsOf(await call(home, 'GET deliveries', { query })).map(({ id }) => id)
  const { destination_id, record_id } = delivery
  assert.deepEqual(await found({ destination_id }), [delivery.id])
  assert.deepEqual(await found({ record_id, state: 'delivered' }), [delivery.id])
  assert.deepEqual(await found({ record_id, state: 'failed' }), [])
  assertRefused(await call(home, 'GET deliveries', { query: { state: 'lost' } }), 400, 'invalid_request')
  const { webhook } = await created(home, 'webhooks', {})
  const accepted = (await (await fetch(webhook.public_url, { method: 'POST', body: '{}' })).json()) as { id: string; dataset: string }
  assert.deepEqual(itemsOf(await call(home, 'GET submissions', { query: { webhook_id: webhook.id } })).map(({ id }) => id), [accepted.id])
  assert.equal(itemsOf(await call(home, 'GET records', { query: { dataset: accepted.dataset } })).length, 1)
})

// Rooms

test('a dataset is created, described and found; its name is taken once in a project', async () => {
  const { dataset } = await created(home, 'datasets', { name: 'Orders_1' })
  assert.deepEqual([dataset.name, dataset.description], ['Orders_1', null])
  assertRefused(await call(home, 'POST datasets', { body: { name: 'Orders_1' } }), 409, 'name_taken')
  const changed = await call(home, `PATCH datasets/${dataset.id}`, { body: { description: 'What is sold' } })
  assert.equal(changed.body.dataset.description, 'What is sold')
  assert.deepEqual((await call(home, `GET datasets/${dataset.id}`)).body, changed.body)
  for (const name of ['', '1x', 'a-b', 'a b', `a${'b'.repeat(63)}`, 7, null]) assertRefused(await call(home, 'POST datasets', { body: { name } }), 400, 'invalid_request')
})

test('a project is created with a slug of its name, renamed and deleted; the Default project stays', async () => {
  const { project } = await created(home, 'projects', { name: 'Élan & Co' })
  assert.deepEqual([project.slug, project.is_default], ['e-lan-co', false])
  assertRefused(await call(home, 'POST projects', { body: { name: 'x', slug: 'e-lan-co' } }), 409, 'slug_taken')
  for (const slug of ['', '-a', 'a-', 'A', 'a_b', 'a'.repeat(64)]) assertRefused(await call(home, 'POST projects', { body: { name: 'x', slug } }), 400, 'invalid_request')
  const renamed = await call(home, `PATCH projects/${project.id}`, { body: { name: 'Other' } })
  assert.deepEqual([renamed.body.project.name, renamed.body.project.slug], ['Other', 'e-lan-co'])
  assert.deepEqual((await call(home, `DELETE projects/${project.id}`)).body, { ok: true })
  assertRefused(await call(home, `DELETE projects/${project.id}`), 404, 'not_found')
  assertRefused(await call(home, `DELETE projects/${home.project}`), 409, 'default_project')
})

test('a webhook is created with what its name gives, changed member by member, and gone when deleted', async () => {
  const { webhook } = await created(home, 'webhooks', { name: 'Shop Orders!' })
  const { name, slug, dataset, enabled, criteria, mappings, verification, version } = webhook
  assert.deepEqual({ name, slug, dataset, enabled, criteria, mappings, verification, version }, {
    name: 'Shop Orders!',
    slug: 'shop-orders',
    dataset: 'shop_orders',
    enabled: true,
    criteria: [],
    mappings: [],
    verification: { scheme: 'none' },
    version: 1,
  })
  assert.match(webhook.webhook_slug, /^[0-9A-Za-z]{22,}$/, 'at least 128 bits')
  assert.equal(webhook.public_path, `/main/default/${webhook.webhook_slug}`)
  assert.equal(webhook.public_url, world.baseUrl + webhook.public_path)
  assert.deepEqual([webhook.previous_public_url, webhook.previous_url_expires_at], [null, null])
  assertRefused(await call(home, 'POST webhooks', { body: { name: 'Shop orders', slug: 'shop-orders' } }), 409, 'slug_taken')
  const namesake = await call(home, 'POST webhooks', { body: { name: 'Shop orders' } })
  assert.match(namesake.body.webhook.slug, /^shop-orders-[a-z0-9]{6}$/)
  assert.equal(namesake.body.webhook.dataset, namesake.body.webhook.slug.replaceAll('-', '_'))
  const other = await created(home, 'webhooks', {})
  assertRefused(await call(home, `PATCH webhooks/${other.webhook.id}`, { body: { slug: 'shop-orders' } }), 409, 'slug_taken')
  const patch = { criteria: [{ path: 'kind', equals: 'order' }], enabled: false }
  const changed = await call(home, `PATCH webhooks/${webhook.id}`, { body: patch })
  assert.deepEqual(changed.body.webhook, { ...webhook, ...patch, version: 2, updated_at: changed.body.webhook.updated_at })
  assert.deepEqual((await call(home, `DELETE webhooks/${webhook.id}`)).body, { ok: true })
  assertRefused(await call(home, `GET webhooks/${webhook.id}`), 404, 'not_found')
  assert.equal((await fetch(webhook.public_url, { method: 'POST', body: '{}' })).status, 404)
})

test('a verification secret is kept, replaced and never shown; settings of another scheme are refused', async () => {
  const { webhook } = await created(home, 'webhooks', { verification: { scheme: 'hmac', secret: 'first secret', prefix: 'sha256=' } })
  const { verification } = webhook
  assert.deepEqual(verification, {
    scheme: 'hmac',
    header: 'X-Signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    has_secret: true,
    previous_secret_expires_at: null,
  })
  const kept = await call(home, `PATCH webhooks/${webhook.id}`, { body: { verification: { scheme: 'hmac', encoding: 'base64' } } })
  assert.deepEqual([kept.body.webhook.verification.has_secret, kept.body.webhook.verification.encoding], [true, 'base64'])
  const refused = [
    { scheme: 'code_host' },
    { scheme: 'code_host', secret: 'x', header: 'X-A' },
    { scheme: 'none', secret: 'x' },
    { scheme: 'chat_platform', secret: 'x', tolerance_seconds: 29 },
    { scheme: 'hmac', secret: 'x', prefix: 'x'.repeat(33) },
    { scheme: 'hmac', secret: 'x'.repeat(513) },
    { scheme: 'hmac', secret: '' },
    { scheme: 'hmac', without_secret: true, secret: 'x' },
    { scheme: 'none', without_secret: true },
    { scheme: 'unheard_of', secret: 'x' },
  ]
  for (const bad of refused) {
    const answer = await call(home, 'POST webhooks', { body: { name: aName('bad'), verification: bad } })
    assertRefused(answer, 400, 'invalid_request')
    assert.match(answer.body.error, /verification/, JSON.stringify(bad))
  }
  const pending = await created(home, 'webhooks', { verification: { scheme: 'code_host', without_secret: true } })
  assert.equal(pending.webhook.verification.has_secret, false)
})

test('a rule is created, changed and deleted; its name is taken once in a project', async () => {
  const conditions = [{ path: 'a.b', equals: 'x' }, { path: 'n', op: 'in', value: [1, 'two'] }]
  const { rule } = await created(home, 'rules', { name: 'Big ones', dataset: 'big', conditions, mappings: [{ target: 'id', path: 'a.id' }] })
  assert.deepEqual([rule.enabled, rule.conditions], [true, conditions])
  assertRefused(await call(home, 'POST rules', { body: { name: 'Big ones', dataset: 'big' } }), 409, 'name_taken')
  const other = await created(home, 'rules', { dataset: 'big' })
  assertRefused(await call(home, `PATCH rules/${other.rule.id}`, { body: { name: 'Big ones' } }), 409, 'name_taken')
  const changed = await call(home, `PATCH rules/${rule.id}`, { body: { enabled: false, conditions: [] } })
  assert.deepEqual(changed.body.rule, { ...rule, enabled: false, conditions: [], updated_at: changed.body.rule.updated_at })
  assert.deepEqual((await call(home, `DELETE rules/${rule.id}`)).body, { ok: true })
  assertRefused(await call(home, `GET rules/${rule.id}`), 404, 'not_found')
})

test('a destination is created with the defaults of the contract, changed member by member, and deleted', async () => {
  const { destination, signing_secret } = await created(home, 'destinations', { name: 'Ledger', url: sink.url, datasets: ['Nothing'] })
  const { id: _id, created_at: _created, updated_at: _updated, ...rest } = destination
  assert.deepEqual(rest, {
    name: 'Ledger',
    url: sink.url,
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    datasets: ['Nothing'],
    conditions: [],
    headers: {},
    retry: { schedule_seconds: null },
    timeout_ms: 15_000,
    max_in_flight: 10,
    rate_limit: null,
    breaker: { state: 'closed', opened_at: null, next_probe_at: null, failures_in_row: 0, failing_since: null },
    signing: { header: 'both' },
    previous_secret_expires_at: null,
    auth: { kind: 'none' },
    tls: null,
    proxy: null,
    payload_template: null,
  })
  assert.match(signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assertRefused(await call(home, 'POST destinations', { body: { name: 'Ledger', url: sink.url } }), 409, 'name_taken')
  const other = await created(home, 'destinations', { url: sink.url, datasets: ['Nothing'] })
  assertRefused(await call(home, `PATCH destinations/${other.destination.id}`, { body: { name: 'Ledger' } }), 409, 'name_taken')
  const patch = { headers: { 'X-Key': 'v' }, retry: { schedule_seconds: [0, 1] }, signing: { header: 'service' }, datasets: null, enabled: false }
  const changed = (await call(home, `PATCH destinations/${destination.id}`, { body: patch })).body.destination
  const { disabled_at, updated_at } = changed
  assert.deepEqual(changed, { ...destination, ...patch, disabled_reason: 'by_hand', disabled_at, updated_at })
  assert.deepEqual((await call(home, `PATCH destinations/${destination.id}`, { body: {} })).body.destination, changed)
  assert.deepEqual((await call(home, `DELETE destinations/${destination.id}`)).body, { ok: true })
  assertRefused(await call(home, `GET destinations/${destination.id}`), 404, 'not_found')
})

test('the bounds of a destination hold', async () => {
  const bad: object[] = [
    { timeout_ms: 999 }, { timeout_ms: 60_001 }, { timeout_ms: 1_000.5 }, { timeout_ms: '2000' },
    { max_in_flight: 0 }, { max_in_flight: 1_001 },
    { retry: { schedule_seconds: [] } }, { retry: { schedule_seconds: [-1] } }, { retry: { schedule_seconds: [86_401] } },
    { retry: { schedule_seconds: Array.from({ length: 101 }, () => 1) } }, { retry: {} }, { retry: { schedule_seconds: [1], jitter: 0 } },
    { datasets: ['a-b'] }, { datasets: 'a' }, { signing: { header: 'none' } }, { enabled: 'yes' }, { name: '' }, { name: '  ' }, { name: 'x'.repeat(121) },
    { url: '' }, { url: `https://example.com/${'x'.repeat(2_048)}` }, { url: 7 }, { headers: { 'X-A': 1 } }, { headers: [] },
    { headers: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`X-${index}`, 'v'])) },
    { conditions: [{ path: 'a' }] }, { conditions: [{ path: 'a', op: 'regex', value: '(a+)+' }] }, { conditions: [{ path: 'a', op: 'exists', value: 1 }] },
  ]
  for (const members of bad) {
    const answer = await call(home, 'POST destinations', { body: { name: aName('bad'), url: sink.url, ...members } })
    assertRefused(answer, 400, 'invalid_request')
    assert.ok(answer.body.error.startsWith(Object.keys(members)[0] ?? ''), `${JSON.stringify(members)}: ${answer.body.error}`)
  }
})

async function refusal(rule: object): Promise<string> {
  const { status, body } = await call(home, 'POST rules', { body: { name: aName('bad'), dataset: 'ok', ...rule } })
  assert.equal(status, 400)
  return body.error
}

test('what is wrong is said with its place, and how it should be', async () => {
  assert.equal(await refusal({ name: undefined }), 'name: is missing; send a value of type string.')
  assert.equal(await refusal({ name: 7 }), 'name: must be of type string, not number.')
  assert.match(await refusal({ name: 'x'.repeat(300) }), /^name: must have at most \d+ characters\.$/)
  assert.equal(await refusal({ dataset: '9' }), 'dataset: must start with a letter, then up to 62 letters, digits or underscores.')
  assert.match(await refusal({ conditions: [{ path: 'a', equals: 1 }, { path: 'b', op: 'gt', value: 'x' }] }), /^conditions\[1\]/)
  assert.match(await refusal({ conditions: [{ path: 'a', op: 'regex', value: '(' }] }), /^conditions\[0\]\.value: /)
  assert.match(await refusal({ mappings: [{ target: 'a' }] }), /^mappings\[0\]/)
  assert.match(await refusal({ conditions: [{ path: 'a', equals: 1, extra: 2 }] }), /^conditions\[0\].*extra/)
})

test('an ingest key works until it is revoked, and is then gone from the list', async () => {
  const { ingest_key, key } = await created(home, 'ingest-keys', {})
  assert.match(key, /^ik_live_[0-9A-Za-z]{43}$/)
  assert.equal(ingest_key.shown_prefix, key.slice(0, 12))
  const send = async (): Promise<number> => (await fetch(`${world.baseUrl}/v1/ingest/${key}/filed`, { method: 'POST', body: '{}' })).status
  assert.equal(await send(), 201)
  assert.deepEqual((await call(home, `DELETE ingest-keys/${ingest_key.id}`)).body, { ok: true })
  assert.equal(await send(), 404)
  assertRefused(await call(home, `DELETE ingest-keys/${ingest_key.id}`), 404, 'not_found')
  assert.ok(!itemsOf(await call(home, 'GET ingest-keys', { query: { limit: '200' } })).some(({ id }) => id === ingest_key.id))
})

test('me names who acts, where, and the key', async () => {
  const { body } = await call(home, 'GET me')
  assert.deepEqual([body.role, body.workspace.slug, body.default_project.slug], ['admin', 'main', 'default'])
  assert.deepEqual(Object.keys(body.api_key), ['id', 'project_id'])
  assert.deepEqual([body.user.id.slice(0, 4), body.api_key.id.slice(0, 4), body.api_key.project_id], ['usr_', 'key_', null])
})

// Secrets

test('no secret stands in any other answer, nor in the audit log, nor in clear in the database', async () => {
  const verification = `vs_${randomText(20)}`
  const { webhook } = await created(home, 'webhooks', { verification: { scheme: 'hmac', secret: verification } })
  const shown: string[] = []
  const once = async (path: string, body: object, member: string): Promise<Answer['body']> => {
    const made = await created(home, path, body)
    shown.push(made[member])
    said.pop()
    return made
  }
  const { destination } = await once('destinations', { url: sink.url, headers: { Authorization: 'Bearer theirs-7f3a' } }, 'signing_secret')
  await once('ingest-keys', {}, 'key')
  await once('ingest-keys', { require_signature: true }, 'signing_secret')
  shown.push((await personally(home, 'POST api-keys', { name: aName('made'), role: 'admin' })).body.key)
  said.pop()
  const other = `vs_${randomText(20)}`
  await call(home, `PATCH webhooks/${webhook.id}`, { body: { verification: { scheme: 'hmac', secret: other } } })
  for (const named of ALL.filter(({ route }) => route.method === 'GET')) await ask(named, home, { asked: await example(named, home) })
  await call(home, `GET destinations/${destination.id}`)
  const secrets = [verification, other, ...shown, home.key]
  for (const secret of secrets) assert.ok(!said.some((text) => text.includes(secret)), 'an answer shows a secret')
  const tables = ['audit_rows', 'destinations', 'webhooks', 'ingest_keys', 'api_keys', 'credentials', 'installation', 'submissions']
  for (const table of tables) {
    const rows = await database.many<{ row: string }>({ strings: [`select t::text as row from ${table} t`], values: [] })
    for (const secret of [...secrets, 'theirs-7f3a', webhook.webhook_slug]) {
      const hex = Buffer.from(secret).toString('hex')
      assert.ok(!rows.some(({ row }) => row.includes(secret) || row.includes(hex)), `${table} holds a secret in clear`)
    }
  }
})

// The audit log

type AuditRow = { actor: string; agent: string | null; action: string; target: string | null; ip: string | null; row: string }

const auditRows = (): Promise<readonly AuditRow[]> =>
  database.many<AuditRow>(sql`
    select actor, agent, action, target, ip, t::text as row from audit_rows t order by id
  `)

/** What the routes of a verb are audited as, where the word is another one. */
const WORDS: Readonly<Record<string, string>> = { remove: 'delete', revoke: 'revoke' }

/** `webhooks.rotateVerificationSecret` → rotate: the first word of its action. */
const wordOf = ({ name }: Named): string => {
  const [word = ''] = (name.split('.')[1] ?? '').split(/(?=[A-Z])/)
  return WORDS[word] ?? word
}

test('every change writes one audit row that says who, what and from where; what changes nothing writes none, and a refusal neither', async () => {
  const me = (await call(home, 'GET me')).body
  for (const named of ALL) {
    const asked = await example(named, home)
    const had = new Set((await auditRows()).map(({ row }) => row))
    const answer = await ask(named, home, { asked })
    const added = (await auditRows()).filter((one) => !had.has(one.row))
    // The route itself says that it changes nothing: reads, searches and dry runs.
    if (named.route.whileSuspended === 'read') {
      assert.equal(added.length, 0, named.name)
      continue
    }
    const [row] = added
    assert.ok(row !== undefined && added.length === 1, named.name)
    const agent = named.route.callers === 'people' ? null : `api_key:${me.api_key.id}`
    assert.deepEqual([row.actor, row.agent, row.ip], [asked.actor ?? me.user.id, agent, '127.0.0.1'], named.name)
    assert.match(row.action, /^[a-z]+_[a-z_]+$/)
    assert.ok([wordOf(named), 'revoke'].includes(row.action.split('_')[0] ?? ''), `${named.name}: ${row.action}`)
    const ids = Object.values<{ id?: string } | null>(answer.body).map((value) => value?.id)
    assert.ok([asked.target, ...Object.values(asked.params ?? {}), ...ids].includes(row.target ?? ''), `${named.name}: ${row.target}`)
    const refused = await call(home, `${named.route.method} ${pathOf(named, asked)}`, { body: { frobnicate: 1 } })
    if (refused.status >= 400) assert.equal((await auditRows()).length, had.size + 1, named.name)
  }
})

test('a route that changes something is no GET, and one that changes nothing may not create', () => {
  for (const { name, route } of ALL) {
    if (route.method === 'GET') assert.equal(route.whileSuspended, 'read', name)
    if (route.whileSuspended === 'read') assert.equal(route.status, 200, name)
  }
})

test('no audit row of any route holds a secret, a URL slug or a payload', async () => {
  const secrets = new Set<string>([home.key])
  const begun = said.length
  for (const named of ALL) {
    const asked = await example(named, home)
    for (const secret of JSON.stringify(asked.body ?? {}).match(/canary-[\w-]+/g) ?? []) secrets.add(secret)
    await ask(named, home, { asked })
  }
  const shown = said.slice(begun).join('\n')
  for (const [secret] of shown.matchAll(/(?:hk|ik_live|whsec)_[0-9A-Za-z+/=]{30,}/g)) secrets.add(secret)
  for (const [, slug = ''] of shown.matchAll(/"webhook_slug":"([^"]+)"/g)) secrets.add(slug)
  assert.ok(secrets.size > 30, `${secrets.size} secrets`)
  const rows = (await auditRows()).map(({ row }) => row).join('\n')
  for (const secret of secrets) assert.ok(!rows.includes(secret), 'an audit row holds a secret')
})

// Documents and health

type Operation = {
  operationId: string
  summary: string
  description: string
  parameters: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
}
type OpenApi = { openapi: string; info: object; servers: { url: string }[]; components: { schemas: Record<string, object> }; paths: Record<string, Record<string, Operation>> }

test('/openapi.json is OpenAPI 3.1 and has every route of the contract, twice where there is an alias', async () => {
  const response = await fetch(`${world.baseUrl}/openapi.json`)
  const document = (await response.json()) as OpenApi
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.servers, [{ url: world.baseUrl }])
  const ids: string[] = []
  for (const [path, item] of Object.entries(document.paths)) {
    assert.match(path, /^\/[^?#]*$/)
    for (const [method, operation] of Object.entries(item)) {
      assert.match(method, /^(get|post|put|patch|delete)$/)
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path')
      assert.deepEqual(declared.map(({ name }) => name).toSorted(), inPath.toSorted(), `${method} ${path}`)
      assert.ok(declared.every(({ required }) => required))
      assert.ok(Object.entries(operation.responses).every(([status, { description }]) => /^(\d{3}|default)$/.test(status) && description !== ''))
      assert.notEqual(operation.summary, '')
      if (operation.operationId !== undefined) ids.push(operation.operationId)
    }
  }
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique')
  const expected = ALL.flatMap(({ name, route }) => (route.area === 'project' ? [name, `${name}.default`] : [name]))
  assert.deepEqual(expected.filter((name) => !ids.includes(name)), [])
  for (const [, name] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) assert.ok(document.components.schemas[name ?? ''])
  const error = z.fromJSONSchema(document.components.schemas['Error'] as z.core.JSONSchema.JSONSchema)
  assert.equal(error.safeParse((await call(home, 'GET nothing')).body).success, true)
})

test('the body that each route takes is one that the document allows', async () => {
  const document = (await (await fetch(`${world.baseUrl}/openapi.json`)).json()) as OpenApi
  for (const named of ALL.filter(({ route }) => route.body !== undefined)) {
    const operation = document.paths[`/admin/api/${named.route.path}`]?.[named.route.method.toLowerCase()]
    const schema = operation?.requestBody?.content['application/json']?.schema
    const asked = await example(named, home)
    assert.equal(z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema).safeParse(asked.body).success, true, named.name)
  }
})

async function seen(path: string): Promise<{ readonly status: number; readonly type: string; readonly text: string }> {
  const response = await fetch(`${world.baseUrl}${path}`)
  assert.match(response.headers.get('request-id') ?? '', /^req_/)
  return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
}

test('/healthz, /readyz and /metrics answer, each with a Request-Id', async () => {
  assert.equal((await seen('/healthz')).status, 200)
  assert.equal((await seen('/readyz')).status, 200)
  const { status, type, text } = await seen('/metrics')
  assert.equal(status, 200)
  assert.match(type, /^text\/plain; version=0\.0\.4/)
  for (const line of text.trimEnd().split('\n')) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? \d+(\.\d+)?)$/)
  const series = text.split('\n').filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2])
  assert.equal(new Set(series).size, series.length)
  assert.match(text, /^postroad_ingest_accepted_total [1-9]/m)
  assert.equal((await seen('/nothing-here')).status, 404)
})

test('with METRICS_TOKEN set, metrics are read with it only', async (t) => {
  const guarded = await aWorld({ env: { METRICS_TOKEN: 'a-token-of-some-length' } })
  t.after(() => guarded.stop())
  const read = async (headers: Record<string, string>): Promise<number> => (await fetch(`${guarded.baseUrl}/metrics`, { headers })).status
  assert.equal(await read({}), 401)
  assert.equal(await read({ authorization: 'Bearer wrong' }), 401)
  assert.equal(await read({ authorization: 'Bearer a-token-of-some-length' }), 200)
})

test('/readyz answers 503 when the database is gone, while /healthz says alive', async () => {
  const lost = await aWorld({ env: { LOG_LEVEL: 'silent', ROLES: 'web' } })
  try {
    await lost.storage.stop()
    const ready = await fetch(`${lost.baseUrl}/readyz`)
    assert.equal(ready.status, 503)
    assert.equal(((await ready.json()) as { reason: string }).reason, 'overloaded')
    assert.equal((await fetch(`${lost.baseUrl}/healthz`)).status, 200)
  } finally {
    await lost.stop()
  }
})
