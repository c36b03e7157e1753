import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { decodeId, LIMITS, REASONS, type Reason } from '@postroad/contract'
import { scopeRefusal } from '../src/domain/access.ts'
import { hashCredential } from '../src/platform/cipher.ts'
import { sql, type Database } from '../src/platform/db.ts'
import { bootstrap } from '../src/resources/installation/index.ts'
import { createListener } from '../src/surfaces/listener.ts'
import { createRouter } from '../src/surfaces/router.ts'
import { Browser } from './browser.ts'
import { aDestination, aName, anIngestKey, aRule, aWebhook, behind, post, signedIn, statement, Wire } from './fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World } from './harness.ts'
import { anIdentityProvider, settingsFor, signInThere, type IdentityProvider } from './identity-provider.ts'
import { anOwner, aPerson, aPersonWithPassword, PASSWORD } from './accounts.ts'
import { aReadyExport, theWorkspace } from './people.ts'
import { sse } from './stream-client.ts'

/**
 * Every reason of the table is produced through real HTTP. The list is typed by the table: a reason that nobody
 * produces does not compile here, and one that cannot be produced has no place in the table.
 */
let world: World
let sink: Sink
let database: Database

before(async () => {
  world = await aWorld({ env: { LOG_LEVEL: 'silent' } })
  sink = await aSink()
  database = behind(world)
})
after(async () => {
  await database.close()
  await world.stop()
  await sink.stop()
})

const SIGNED = { verification: { scheme: 'payments_provider', secret: 'k' } }

async function aSignedPost(age: number, signWith = 'k'): Promise<Answer> {
  const { public_url } = await aWebhook(world, SIGNED)
  const at = world.clock.wall() / 1_000 - age
  const digest = createHmac('sha256', signWith).update(`${at}.{}`).digest('hex')
  return post(public_url, '{}', { headers: { 'stripe-signature': `t=${at},v1=${digest}` } })
}

/** Runs with one thing changed in the database, and changes it back. */
async function withRow<T>(change: string, back: string, work: () => Promise<T>): Promise<T> {
  await statement(database, change)
  world.app.deps.configChanged(projectUuid())
  try {
    return await work()
  } finally {
    await statement(database, back)
    world.app.deps.configChanged(projectUuid())
  }
}

/** A delivery that has used up its schedule. */
async function aFailedDelivery(): Promise<string> {
  const { destination } = await aDestination(world, { url: 'http://127.0.0.1:9/', datasets: ['unreachable'], retry: { schedule_seconds: [0] } })
  await post(`${world.endpoint}/unreachable`, '{}')
  return (await eventually(async () => (await world.admin('GET', `deliveries?destination_id=${destination.id}&state=failed`)).body.deliveries[0])).id
}

async function getJson(url: string): Promise<Answer> {
  const response = await fetch(url)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const projectUuid = (): string => decodeId('project', world.installed.project.id) ?? ''

function whileSuspended<T>(work: () => Promise<T>): Promise<T> {
  return withRow('update workspaces set suspended_at = now()', 'update workspaces set suspended_at = null', work)
}

/** On a plan that allows a hundred at once, and the clock stands still. */
function afterABurst<T>(url: string, work: () => Promise<T>): Promise<T> {
  return withRow("update workspaces set plan = 'free'", "update workspaces set plan = 'self_hosted'", async () => {
    for (let sent = 0; sent < 100; sent += 1) await post(url, '{}')
    return work()
  })
}

/** On a plan with a quota, and the month's is used up. */
function withoutQuota<T>(work: () => Promise<T>): Promise<T> {
  const used = `update workspaces set plan = 'free';
    insert into monthly_usage (workspace_id, month, events, deliveries) select id, '${new Date(world.clock.now()).toISOString().slice(0, 7)}-01', 10000, 50000 from workspaces
    on conflict (workspace_id, month) do update set events = excluded.events, deliveries = excluded.deliveries`
  return withRow(`do $$ begin ${used}; end $$`, "do $$ begin update workspaces set plan = 'self_hosted'; delete from monthly_usage; end $$", work)
}

/** Another node stores an equal request for so long that the one here has waited enough by its clock. */
async function aSecondInFlight(): Promise<Answer> {
  const beside = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' } })
  const { public_url } = await aWebhook(world)
  const headers = { 'idempotency-key': 'in-flight' }
  try {
    return await database.transaction(async (tx) => {
      await statement(tx, 'lock table submissions in access exclusive mode')
      void post(public_url, '{}', { headers })
      await eventually(async () => ((await isKeyHeld()) ? true : undefined))
      let second: Answer | undefined
      void post(public_url.replace(world.baseUrl, beside.baseUrl), '{}', { headers }).then((answer) => (second = answer))
      return eventually(async () => {
        beside.clock.advance(500)
        return second
      })
    })
  } finally {
    await beside.stop()
  }
}

async function isKeyHeld(): Promise<boolean> {
  const { held } = await database.one<{ held: number }>({ strings: ["select count(*) as held from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())"], values: [] })
  return held > 0
}

async function aFullProject(): Promise<string> {
  const { body } = await world.admin('POST', 'projects', { name: aName('full') })
  await statement(
    database,
    `insert into datasets (workspace_id, project_id, id, name, created_at)
     select workspace_id, id, gen_random_uuid(), 'd' || n, now() from projects, generate_series(1, 1000) as n where id = '${decodeId('project', body.project.id)}'`,
  )
  return body.project.id
}

/** The storing statement waits for a lock and is then cancelled, as its timeout would. */
async function whileLocked(work: () => Promise<Answer>): Promise<Answer> {
  return database.transaction(async (tx) => {
    await statement(tx, 'lock table submissions in access exclusive mode')
    const answer = work()
    const cancel = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    await eventually(async () => ((await database.run({ strings: [cancel], values: [] })) > 0 ? true : undefined))
    return answer
  })
}

/** A node whose database is dropped while it serves. */
async function atANodeWithoutDatabase(work: (lost: World) => Promise<Answer>): Promise<Answer> {
  const lost = await aWorld({ env: { LOG_LEVEL: 'silent' } })
  try {
    await lost.storage.stop()
    return await work(lost)
  } finally {
    await lost.stop()
  }
}

/** A node that lets each credential ask once in ten seconds, and it has. */
async function atABusyNode(work: (busy: World) => Promise<Answer>): Promise<Answer> {
  const busy = await aWorld({ beside: world, env: { ADMIN_REQUESTS_MAX: '1', LOG_LEVEL: 'silent' } })
  try {
    await busy.admin('GET', 'me')
    return await work(busy)
  } finally {
    await busy.stop()
  }
}

/** The owner's page in the console, which sends no key. */
async function aPage(): Promise<Record<string, string>> {
  const { workspace_id: workspaceId, user_id: userId } = await database.one<{ workspace_id: string; user_id: string }>({ strings: ['select workspace_id, user_id from members'], values: [] })
  return signedIn(world, { workspaceId, userId })
}

/** Nothing lets an agent in yet: what its rung says, as the router answers it. */
async function anAgentWhoMayRead(): Promise<Answer> {
  const router = createRouter(world.app.deps, (otherwise) => otherwise)
  router.get('/admin/api/rules', () => {
    throw scopeRefusal({ kind: 'agent', agentId: 'agent:test', userId: '', role: 'admin', scopes: ['service:read'], manageUrl: `${world.baseUrl}/settings/agents/test` }, { scope: 'service:write' }) ?? assert.fail()
  })
  const address = await router.listen({ host: '127.0.0.1', port: 0 })
  try {
    return await getJson(`${address}/admin/api/rules`)
  } finally {
    await router.close()
  }
}

async function onWire(baseUrl: string, text: string): Promise<Answer> {
  const wire = new Wire(baseUrl).send(text)
  const answer = await wire.answer()
  wire.destroy()
  return { status: answer?.status ?? 0, headers: new Headers({ 'request-id': /^request-id: (\S+)/im.exec(answer?.head ?? '')?.[1] ?? '' }), body: JSON.parse(answer?.body ?? '{}') }
}

/** The world's own listener waits ten seconds; this is the same one with less patience. */
async function anImpatientAnswer(): Promise<Answer> {
  const server = createListener(() => undefined)
  server.headersTimeout = 50
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await onWire(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'POST / HTTP/1.1\r\nHost')
  } finally {
    server.close()
  }
}

const head = (headers: string): string => `POST ${new URL(world.endpoint).pathname} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`

async function aPausedDelivery(): Promise<string> {
  const { destination } = await aDestination(world, { url: sink.url, enabled: false })
  const { body } = await post(world.endpoint, '{}')
  const { body: listed } = await world.admin('GET', `deliveries?record_id=${body.records[0].id}&destination_id=${destination.id}`)
  return listed.deliveries[0].id
}

async function aGet(path: string): Promise<Answer> {
  const response = await fetch(world.baseUrl + path)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** The plan of this name allows two streams. */
async function aFullStream(): Promise<Answer> {
  const { key } = await anIngestKey(world)
  const path = `/v1/stream?key=${key}`
  return withRow("update workspaces set plan = 'free'", "update workspaces set plan = 'self_hosted'", async () => {
    const open = [await sse(world.baseUrl + path), await sse(world.baseUrl + path)]
    const answer = await aGet(path)
    for (const client of open) client.close()
    return answer
  })
}

/** A page of another origin opens a WebSocket in the browser of somebody who is signed in. */
async function aForeignPage(): Promise<Answer> {
  const cookie = (await anOwner(world)).header()
  const handshake = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
  return onWire(world.baseUrl, `GET /admin/api/stream HTTP/1.1\r\nHost: a\r\n${handshake}\r\nOrigin: https://elsewhere.example\r\nCookie: ${cookie}\r\n\r\n`)
}

/** A second node with settings of its own, and a browser at it. */
async function atADoor(env: Record<string, string>, work: (browser: Browser, baseUrl: string) => Promise<Answer>): Promise<Answer> {
  const node = await aWorld({ beside: world, env })
  try {
    return await work(new Browser(node.address), node.baseUrl)
  } finally {
    await node.stop()
  }
}

async function byProvider(env: Record<string, string>, work: (provider: IdentityProvider, at: { browser: Browser; baseUrl: string }) => Promise<Answer>): Promise<Answer> {
  const provider = await anIdentityProvider()
  try {
    return await atADoor({ ...settingsFor(provider), ...env }, (browser, baseUrl) => work(provider, { browser, baseUrl }))
  } finally {
    await provider.stop()
  }
}

async function aPersonsBrowser(): Promise<Browser> {
  const { email } = await aPersonWithPassword(world, database)
  const browser = new Browser(world.baseUrl)
  await browser.call('POST session', { email, password: PASSWORD })
  return browser
}

const askForLink = () => new Browser(world.baseUrl).call('POST session/links', { email: 'often@example.com' })

/** Somebody else has proven the address meanwhile. */
async function aTakenAddress(): Promise<Answer> {
  const owner = await anOwner(world)
  await owner.call('POST account/email', { email: 'soon-taken@example.com' })
  const token = 'a token made behind the back of the server'
  await database.run(sql`update one_time_tokens set hash = ${hashCredential(token)} where email = 'soon-taken@example.com'`)
  const { userId } = await aPerson(world, database)
  await database.run(sql`update users set email = 'soon-taken@example.com' where id = ${userId}`)
  return owner.call('PUT account/email', { token })
}

const PRODUCED: Readonly<Record<Reason, () => Promise<Answer>>> = {
  endpoint_not_found: () => post(`${world.endpoint}x`, '{}'),
  ingest_key_not_found: () => post(`${world.baseUrl}/v1/ingest/ik_live_unknown`, '{}'),
  endpoint_disabled: async () => post((await aWebhook(world, { enabled: false })).public_url, '{}'),
  ip_not_allowed: async () => post((await aWebhook(world, { ip_allowlist: ['203.0.113.7'] })).public_url, '{}'),
  workspace_suspended: () => whileSuspended(() => post(world.endpoint, '{}')),
  burst_limited: () => afterABurst(world.endpoint, () => post(world.endpoint, '{}')),
  cors_origin_not_allowed: async () =>
    post((await aWebhook(world, { cors: { origins: ['https://shop.example'] } })).public_url, '{}', { headers: { origin: 'https://other.example' } }),
  handshake_failed: () => getJson(`${world.endpoint}?hub.challenge=1&hub.mode=subscribe&hub.verify_token=t`),
  invalid_challenge: async () =>
    getJson(`${(await aWebhook(world, { handshake: { kind: 'hub_challenge', verify_token: 't' } })).public_url}?hub.challenge=`),
  scope_missing: async () => post(`${world.baseUrl}/v1/ingest/${(await anIngestKey(world, { scopes: ['stream'] })).key}/d`, '{}'),
  dataset_not_allowed: async () => post(`${world.baseUrl}/v1/ingest/${(await anIngestKey(world, { datasets: ['mine'] })).key}/other`, '{}'),
  payload_too_large: () => post(world.endpoint, `"${'a'.repeat(1_048_576)}"`),
  unsupported_encoding: () => post(world.endpoint, '{}', { headers: { 'content-encoding': 'compress' } }),
  missing_header: async () => post((await aWebhook(world, SIGNED)).public_url, '{}'),
  bad_signature: () => aSignedPost(0, 'another'),
  stale_timestamp: () => aSignedPost(301),
  empty_body: () => post(world.endpoint, ''),
  invalid_body: () => post(world.endpoint, '{'),
  loop_detected: () => post(world.endpoint, '{}', { headers: { 'service-hops': '5' } }),
  invalid_dataset: () => post(`${world.endpoint}/not-a-name`, '{}'),
  dataset_limit_reached: async () => world.admin('POST', `projects/${await aFullProject()}/datasets`, { name: 'one_more' }),
  invalid_idempotency_key: () => post(world.endpoint, '{}', { headers: { 'idempotency-key': 'with a space' } }),
  idempotency_key_reused: async () => {
    const { public_url } = await aWebhook(world)
    await post(public_url, '{}', { headers: { 'idempotency-key': 'reused' } })
    return post(public_url, '{"other":1}', { headers: { 'idempotency-key': 'reused' } })
  },
  idempotency_in_progress: () => aSecondInFlight(),
  quota_exceeded: async () => {
    const { public_url } = await aWebhook(world)
    return withoutQuota(() => post(public_url, '{}'))
  },
  delivery_allowance_exhausted: async () => {
    const id = await aFailedDelivery()
    return withoutQuota(() => world.admin('POST', `deliveries/${id}/replay`))
  },
  storage_unavailable: () => whileLocked(() => post(world.endpoint, '{"never":"stored"}')),
  unauthorized: () => world.admin('GET', 'me', undefined, { authorization: 'Bearer hk_unknown' }),
  api_key_expired: () =>
    withRow('update api_keys set expires_at = created_at', 'update api_keys set expires_at = null', () => world.admin('GET', 'me')),
  api_key_revoked: () => withRow('update api_keys set revoked_at = now()', 'update api_keys set revoked_at = null', () => world.admin('GET', 'me')),
  rate_limited: () => atABusyNode((busy) => busy.admin('GET', 'me')),
  agent_not_permitted: () => world.admin('POST', 'api-keys', { name: 'another', role: 'viewer' }),
  agent_scope_insufficient: () => anAgentWhoMayRead(),
  idempotency_key_refused: async () => post(`${world.baseUrl}/admin/api/api-keys`, '{"name":"again","role":"viewer"}', { headers: { ...(await aPage()), 'idempotency-key': 'k' } }),
  idempotency_keys_exhausted: () => withRow(`insert into idempotency_records (workspace_id, id, key_hash, fingerprint, claimed_at)
    select w.id, gen_random_uuid(), decode(lpad(to_hex(n), 64, '0'), 'hex'), '', to_timestamp(${world.clock.now() / 1_000}) from workspaces w, generate_series(1, 10000) as n`,
    'delete from idempotency_records', () => world.admin('POST', 'rules', { name: 'one more', dataset: 'x' }, { 'idempotency-key': 'one-more' })),
  csrf_header_missing: () => world.admin('POST', 'session', { token: 'any' }),
  insufficient_role: () =>
    withRow("update api_keys set role = 'viewer'", "update api_keys set role = 'admin'", () => world.admin('POST', 'rules', { name: 'x', dataset: 'x' })),
  project_out_of_scope: () =>
    withRow(`update api_keys set project_id = '${projectUuid()}'`, 'update api_keys set project_id = null', () => world.admin('GET', 'projects')),
  not_found: () => world.admin('GET', 'rules/rul_01kf0rdqg0e31tkzsaqv275w2x'),
  route_not_found: () => world.admin('GET', 'nowhere'),
  method_not_allowed: () => world.admin('PUT', 'webhooks'),
  unsupported_version: () => world.admin('GET', 'me', undefined, { 'service-version': '1999-01-01' }),
  invalid_request: () => world.admin('POST', 'rules', { name: 'x' }),
  slug_taken: async () => world.admin('POST', 'webhooks', { name: 'again', slug: (await aWebhook(world)).slug }),
  name_taken: async () => world.admin('POST', 'rules', { name: (await aRule(world)).name, dataset: 'x' }),
  default_project: () => world.admin('DELETE', `projects/${world.installed.project.id}`),
  invalid_state: async () => world.admin('POST', `deliveries/${await aPausedDelivery()}/replay`),
  search_timed_out: () =>
    database.transaction(async (db) => {
      await db.run(sql`lock table deliveries in access exclusive mode`)
      return world.admin('GET', 'search/deliveries')
    }),
  replay_limit_reached: async () => {
    await aFailedDelivery()
    await statement(
      database,
      `insert into replays (workspace_id, project_id, id, kind, filter, rate_per_second, state, pause_reason, upto, next_at, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), 'replay', '{"state":["failed"],"conditions":[]}', 1, 'paused', 'by_hand', id, now(), now(), now() from projects, generate_series(1, ${LIMITS.replaysOpenMax}) where is_default`,
    )
    return world.admin('POST', 'deliveries/replays', { filter: {} })
  },
  member_limit_reached: () =>
    withRow("update workspaces set plan = 'free'; insert into users (id, name, created_at) select gen_random_uuid(), 'Full', now() from generate_series(1, 3); insert into members (workspace_id, user_id, role, created_at) select w.id, u.id, 'viewer', now() from workspaces w, users u where u.name = 'Full'",
      "update workspaces set plan = 'self_hosted'; delete from members where user_id in (select id from users where name = 'Full')", async () => (await anOwner(world)).call('POST invites', { email: 'one-more@example.com', role: 'viewer' })),
  invite_over: async () => (await anOwner(world)).call('POST invites/accept', { token: 'unknown' }),
  invite_for_another: async () => {
    const owner = await anOwner(world)
    await owner.call('POST invites', { email: 'somebody-else@example.com', role: 'viewer' })
    await database.run(sql`update invites set token_hash = ${hashCredential('for another')}`)
    return owner.call('POST invites/accept', { token: 'for another' })
  },
  last_owner: async () => (await anOwner(world)).call('POST members/leave', {}),
  export_running: async () => {
    const browser = await anOwner(world)
    await browser.call('POST data-export')
    return browser.call('POST data-export')
  },
  export_limit_reached: async () => {
    const { workspaceId } = await theWorkspace(database)
    await database.run(sql`update data_exports set deleted_at = now()`)
    for (let kept = 0; kept < LIMITS.dataExportsReadyMax; kept += 1) await aReadyExport(world, database, { workspaceId })
    return world.admin('POST', 'data-export')
  },
  export_over: async () => {
    const id = await aReadyExport(world, database, await theWorkspace(database))
    await database.run(sql`update data_exports set expires_at = ${new Date(world.clock.now())}`)
    return world.admin('GET', `data-export/${id}/download`)
  },
  range_not_satisfiable: async () => world.admin('GET', `data-export/${await aReadyExport(world, database, await theWorkspace(database))}/download`, undefined, { range: 'bytes=1000-' }),
  workspace_closed: () => withRow('update workspaces set closed_at = now()', 'update workspaces set closed_at = null', () => world.admin('POST', 'rules', { name: 'x', dataset: 'x' })),
  workspace_limit_reached: async () => {
    const owner = await anOwner(world)
    return withRow("insert into workspaces (id, slug, name, created_at) select gen_random_uuid(), 'owned-' || n, 'Owned', now() from generate_series(1, 50) n; insert into members (workspace_id, user_id, role, created_at) select w.id, m.user_id, 'owner', now() from workspaces w, members m where w.name = 'Owned' and m.role = 'owner'",
      "delete from members where workspace_id in (select id from workspaces where name = 'Owned'); delete from workspaces where name = 'Owned'", () => owner.call('POST workspaces', { name: 'x' }))
  },
  invalid_url: () => world.admin('POST', 'destinations', { name: 'inside', url: 'http://10.0.0.1/' }),
  sign_in_failed: () => new Browser(world.baseUrl).call('POST session', { email: 'nobody@example.com', password: 'x' }),
  link_over: () => new Browser(world.baseUrl).call('POST session', { token: 'unknown' }),
  passkey_refused: () => atADoor({ PUBLIC_URL: 'http://localhost:1' }, (at) => at.call('POST session', { passkey: { id: 'a', rawId: 'a', type: 'public-key', response: {} } })),
  no_account: () => byProvider({}, (provider, at) => signInThere(provider, at.browser, { baseUrl: at.baseUrl, claims: { sub: 'stranger' } })),
  no_workspace: async () => {
    const browser = await aPersonsBrowser()
    await database.run(sql`delete from members where user_id in (select user_id from passwords)`)
    return browser.call('GET me')
  },
  email_domain_not_allowed: () =>
    byProvider({ OIDC_ALLOWED_DOMAINS: 'example.com' }, (provider, at) => signInThere(provider, at.browser, { baseUrl: at.baseUrl, claims: { sub: 'stranger' } })),
  wrong_password: async () => (await aPersonsBrowser()).call('PUT account/password', { current_password: 'not it', new_password: PASSWORD }),
  weak_password: async () => (await anOwner(world)).call('PUT account/password', { new_password: 'password' }),
  email_taken: async () => aTakenAddress(),
  passkeys_unavailable: () => new Browser(world.baseUrl).call('POST session/passkey-options', {}),
  passkey_limit_reached: () =>
    atADoor({ PUBLIC_URL: 'http://localhost:1' }, async (at) => {
      await at.call('POST session', { token: new URL((await bootstrap(world.app.deps)).sign_in_url).hash.slice(3) })
      const many = `insert into passkeys (id, user_id, credential_id, name, public_key, counter, transports, created_at) select gen_random_uuid(), (select user_id from members where role = 'owner'), n::text, 'full', '', 0, '{}', now() from generate_series(1, 20) n`
      return withRow(many, "delete from passkeys where name = 'full'", () => at.call('POST account/passkeys/options', {}))
    }),
  too_many_attempts: async () => {
    for (let asked = 0; asked < 3; asked += 1) await askForLink()
    return askForLink()
  },
  oidc_not_configured: () => new Browser(world.baseUrl).call('GET session/oidc'),
  oidc_state_lost: () => new Browser(world.baseUrl).call('GET session/oidc/callback?state=x'),
  identity_provider_error: () => atADoor({ OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b', LOG_LEVEL: 'silent' }, (at) => at.call('GET session/oidc')),
  stream_key_required: () => aGet('/v1/stream?key=ik_live_unknown'),
  stream_limit_reached: () => aFullStream(),
  origin_not_allowed: () => aForeignPage(),
  malformed_request: () => onWire(world.baseUrl, head('Host: b\r\n')),
  request_timeout: () => anImpatientAnswer(),
  headers_too_large: () => onWire(world.baseUrl, head(`X: ${'a'.repeat(70_000)}\r\n`)),
  overloaded: () => atANodeWithoutDatabase((lost) => lost.admin('GET', 'me')),
  internal: () => withRow('alter table rules rename to rules_gone', 'alter table rules_gone rename to rules', () => world.admin('GET', 'rules')),
}

describe('every reason is produced, with its status, a sentence and a Request-Id', () => {
  for (const [reason, produce] of Object.entries(PRODUCED)) {
    test(reason, async () => {
      const { status, headers, body } = await produce()
      assert.deepEqual([body.reason, status], [reason, REASONS[reason as Reason].status], JSON.stringify(body))
      assert.match(body.error, /^\S.{10,}[.…]$/su)
      assert.match(headers.get('request-id') ?? '', /^req_/)
    })
  }

  test('none of the table is missing', () => {
    assert.deepEqual(Object.keys(REASONS).filter((reason) => !Object.hasOwn(PRODUCED, reason)), [])
  })
})

describe('the order of checks: with several faults at once the earliest wins', () => {
  type Fault = {
    readonly reason: Reason
    /** Behind the endpoint's URL. */
    readonly url?: string
    /** Changes to the endpoint. */
    readonly members?: Readonly<Record<string, unknown>>
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly suspended?: true
    readonly bursting?: true
    readonly exhausted?: true
  }
  /** Decisions on ingest, from the credential to the quota. */
  const LADDER: readonly Fault[] = [
    { reason: 'endpoint_not_found', url: 'x' },
    { reason: 'endpoint_disabled', members: { enabled: false } },
    { reason: 'ip_not_allowed', members: { ip_allowlist: ['203.0.113.7'] } },
    { reason: 'workspace_suspended', suspended: true },
    { reason: 'burst_limited', bursting: true },
    { reason: 'cors_origin_not_allowed', members: { cors: { origins: ['https://shop.example'] } }, headers: { origin: 'https://other.example' } },
    { reason: 'payload_too_large', body: `{${'x'.repeat(1_048_576)}` },
    { reason: 'unsupported_encoding', headers: { 'content-encoding': 'compress' } },
    { reason: 'bad_signature', members: { verification: { scheme: 'hmac', secret: 'k' } }, headers: { 'x-signature': 'nonsense' } },
    { reason: 'invalid_body', body: '{' },
    { reason: 'loop_detected', headers: { 'service-hops': '9' } },
    { reason: 'invalid_idempotency_key', headers: { 'idempotency-key': 'with a space' } },
    { reason: 'idempotency_key_reused', headers: { 'idempotency-key': 'reused' } },
    { reason: 'quota_exceeded', exhausted: true },
  ]

  /** What has no fault is as it should be; where two faults are in the same place the earlier one stands. */
  const SOUND = { enabled: true, ip_allowlist: [], cors: null, verification: { scheme: 'none' } }

  async function sendWith(faults: readonly Fault[], { id, public_url }: { readonly id: string; readonly public_url: string }): Promise<Answer> {
    const has = (member: keyof Fault): Fault | undefined => faults.find((fault) => fault[member] !== undefined)
    const headers = Object.assign({}, ...faults.toReversed().map((fault) => fault.headers))
    const send = (): Promise<Answer> => post(public_url + (has('url')?.url ?? ''), has('body')?.body ?? '{}', { headers })
    const sendCounted = (): Promise<Answer> => (has('exhausted') ? withoutQuota(send) : send())
    const sendFaulty = async (): Promise<Answer> => {
      const { status } = await world.admin('PATCH', `webhooks/${id}`, Object.assign({}, SOUND, ...faults.map(({ members }) => members)))
      assert.equal(status, 200)
      return has('suspended') ? whileSuspended(sendCounted) : sendCounted()
    }
    if (has('bursting')) return afterABurst(public_url, sendFaulty)
    // A bucket that was emptied fills again.
    world.clock.advance(10_000)
    return sendFaulty()
  }

  for (const [at, { reason }] of LADDER.entries()) {
    const faults = LADDER.slice(at)
    test(faults.map((fault) => fault.reason).join(' before '), async () => {
      const { id, public_url } = await aWebhook(world)
      await post(public_url, '{"first":1}', { headers: { 'idempotency-key': 'reused' } })
      assert.equal((await sendWith(faults, { id, public_url })).body.reason, reason)
    })
  }

  test('a request that breaks every rung is refused at each of them in turn, while one after the other is mended; then it is accepted', async () => {
    const { id, public_url } = await aWebhook(world)
    await post(public_url, '{"first":1}', { headers: { 'idempotency-key': 'reused' } })
    const refused: string[] = []
    for (const at of LADDER.keys()) refused.push((await sendWith(LADDER.slice(at), { id, public_url })).body.reason)
    assert.deepEqual(refused, LADDER.map(({ reason }) => reason))
    assert.equal((await sendWith([], { id, public_url })).status, 201)
  })

  test('a repeat is answered when the quota is used up, and refused by every rung that comes before', async () => {
    const { id, public_url } = await aWebhook(world)
    const repeat: Fault = { reason: 'quota_exceeded', headers: { 'idempotency-key': 'reused' } }
    assert.equal((await sendWith([repeat], { id, public_url })).status, 201)
    for (const at of LADDER.keys()) {
      const { status, body } = await sendWith([repeat, ...LADDER.slice(at)], { id, public_url })
      const { reason } = LADDER[at] ?? repeat
      if (reason.startsWith('invalid_idem') || reason.startsWith('idempotency') || reason === 'quota_exceeded') assert.deepEqual([status, body.duplicate], [200, true])
      else assert.equal(body.reason, reason)
    }
  })

  test('the signature is looked at before what an empty body would say', async () => {
    const { public_url } = await aWebhook(world, SIGNED)
    assert.equal((await post(public_url, '')).body.reason, 'missing_header')
  })

  test('the admin API: version, then who, then may they, then what do they ask', async () => {
    const bad = { authorization: 'Bearer hk_unknown', 'service-version': '1999-01-01' }
    assert.equal((await world.admin('POST', 'rules', { name: 1 }, bad)).body.reason, 'unsupported_version')
    assert.equal((await world.admin('POST', 'rules', { name: 1 }, { authorization: 'Bearer hk_unknown' })).body.reason, 'unauthorized')
    await withRow("update api_keys set role = 'viewer'", "update api_keys set role = 'admin'", async () => {
      assert.equal((await world.admin('POST', 'rules', { name: 1 })).body.reason, 'insufficient_role')
    })
    await whileSuspended(async () => assert.equal((await world.admin('POST', 'rules', { name: 1 })).body.reason, 'workspace_suspended'))
    assert.equal((await world.admin('POST', 'rules', { name: 1 })).body.reason, 'invalid_request')
  })
})

describe('suspension', () => {
  test('ingest by every form is 403 before anything is stored, admin reads go on, and reinstated it all works', async () => {
    const { key } = await anIngestKey(world)
    const { public_url } = await aWebhook(world, { slug: 'suspended' })
    const urls = [public_url, `${public_url}/d`, ...[key, `${key}/d`].map((path) => `${world.baseUrl}/v1/ingest/${path}`), `${world.baseUrl}/v1/webhooks/${key}/suspended`]
    const stored = async (): Promise<number> => (await world.admin('GET', 'submissions?limit=200')).body.submissions.length
    const had = await stored()
    await whileSuspended(async () => {
      for (const url of urls) assert.deepEqual([(await post(url, '{}')).status], [403])
      assert.equal(await stored(), had)
      assert.equal((await world.admin('GET', 'webhooks')).status, 200)
    })
    for (const url of urls) assert.equal((await post(url, '{}')).status, 201)
  })
})

describe('faults of the database', () => {
  test('what was answered 503 is not stored, then or later, and says when to try again', async () => {
    const had = (await world.admin('GET', 'submissions?limit=200')).body.submissions.length
    const answer = await whileLocked(() => post(world.endpoint, '{"never":"stored"}'))
    assert.deepEqual([answer.status, answer.headers.get('retry-after'), answer.body.retry_after], [503, '1', 1])
    assert.equal((await world.admin('GET', 'submissions?limit=200')).body.submissions.length, had)
    assert.equal((await post(world.endpoint, '{}')).status, 201)
  })

  test('a database that is gone is 503 with Retry-After on ingest, known credential or not, and /readyz says so', async () => {
    await atANodeWithoutDatabase(async (lost) => {
      for (const url of [lost.endpoint, `${lost.baseUrl}/v1/ingest/ik_live_unknown`]) {
        const answer = await post(url, '{}')
        assert.deepEqual([answer.status, answer.body.reason, answer.headers.get('retry-after')], [503, 'storage_unavailable', '1'], JSON.stringify(answer.body))
      }
      const ready = await fetch(`${lost.baseUrl}/readyz`)
      assert.equal(ready.status, 503)
      assert.equal((await fetch(`${lost.baseUrl}/healthz`)).status, 200)
      return post(lost.endpoint, '{}')
    })
  })

  test('a 500 says nothing of what went wrong inside', async () => {
    const answer = await PRODUCED.internal()
    assert.deepEqual(Object.keys(answer.body), ['error', 'reason'])
    assert.ok(!JSON.stringify(answer.body).includes('rules_gone'))
  })

  test('a plan that cannot be read is 500 on ingest and nothing is stored; then it is read again', async () => {
    const answer = await withRow('alter table rules rename to rules_gone', 'alter table rules_gone rename to rules', () => post(world.endpoint, '{}'))
    assert.deepEqual([answer.status, answer.body.reason], [500, 'internal'])
    assert.equal((await post(world.endpoint, '{}')).status, 201)
  })
})

describe('every answer under /admin/api says its version', () => {
  for (const path of ['me', 'nowhere', 'rules/not-an-id', 'projects/x/y/z', '%zz']) {
    test(path, async () => {
      const { headers } = await world.admin('GET', path)
      assert.equal(headers.get('service-version'), '2026-09-29')
    })
  }
})

describe('text that the store cannot hold is 400, not 500', () => {
  const text = 'a\0b'
  const CASES: readonly (readonly [string, object])[] = [
    ['webhooks', { name: text }],
    ['rules', { name: text, dataset: 'd' }],
    ['ingest-keys', { name: text }],
    ['projects', { name: text }],
    ['destinations', { name: text, url: 'http://127.0.0.1:1/' }],
    ['destinations', { name: 'x', url: `http://127.0.0.1:1/${text}` }],
    ['datasets', { name: 'described', description: text }],
  ]
  for (const [path, body] of CASES) {
    test(`POST ${path} with U+0000 in ${Object.entries(body).find(([, value]) => String(value).includes('\0'))?.[0]}`, async () => {
      const answer = await world.admin('POST', path, body)
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'])
      assert.match(answer.body.error, /U\+0000/)
    })
  }
})
