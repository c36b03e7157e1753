import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { decodeId, LIMITS, REASONS, type Reason } from '@postroad/contract'
import { scopeRefusal } from '../../src/domain/people/access.ts'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { signInLink } from '../../src/resources/operate/installation/index.ts'
import { createListener } from '../../src/surfaces/listener.ts'
import { createRouter } from '../../src/surfaces/router.ts'
import { Browser } from '../stage/browser.ts'
import {
  aDestination,
  aName,
  anIngestKey,
  aRule,
  aWebhook,
  post,
  signedIn,
  statement,
  Wire,
} from '../stage/fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World } from '../stage/harness.ts'
import { anIdentityProvider, settingsFor, signInThere, type IdentityProvider } from '../stage/identity-provider.ts'
import { anOwner, aPerson, aPersonWithPassword, PASSWORD } from '../stage/accounts.ts'
import { atANodeWithoutDatabase, keysHeldByWaiting, Meanwhile } from '../stage/meanwhile.ts'
import { aReadyExport, theWorkspace } from '../stage/people.ts'
import { sse } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Every reason of the table is produced through real HTTP. The list is typed by the table: a reason that nobody
 * produces does not compile here, and one that cannot be produced has no place in the table.
 */
let world: World
let sink: Sink
let database: Database
let meanwhile: Meanwhile

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    sink = await aSink()
    meanwhile = new Meanwhile(world, database)
  },
  { env: { LOG_LEVEL: 'silent' } },
)
after(() => sink.stop())

const SIGNED = { verification: { scheme: 'payments_provider', secret: 'k' } }

async function aSignedPost(age: number, signWith = 'k'): Promise<Answer> {
  const { public_url } = await aWebhook(world, SIGNED)
  const at = world.clock.wall() / 1_000 - age
  const digest = createHmac('sha256', signWith).update(`${at}.{}`).digest('hex')
  return post(public_url, '{}', { headers: { 'stripe-signature': `t=${at},v1=${digest}` } })
}

/** A delivery that has used up its schedule. */
async function aFailedDelivery(): Promise<string> {
  const { destination } = await aDestination(world, {
    url: 'http://127.0.0.1:9/',
    datasets: ['unreachable'],
    retry: { schedule_seconds: [0] },
  })
  await post(`${world.endpoint}/unreachable`, '{}')
  return (
    await eventually(
      async () =>
        (await world.admin('GET', `deliveries?destination_id=${destination.id}&state=failed`)).body.deliveries[0],
    )
  ).id
}

async function getJson(url: string): Promise<Answer> {
  const response = await fetch(url)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const projectUuid = (): string => decodeId('project', world.installed.project.id) ?? ''

/** Another node stores an equal request for so long that the one here has waited enough by its clock. */
async function aSecondInFlight(): Promise<Answer> {
  const beside = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' } })
  const { public_url } = await aWebhook(world)
  const headers = { 'idempotency-key': 'in-flight' }
  try {
    return await database.transaction(async (tx) => {
      await statement(tx, 'lock table submissions in access exclusive mode')
      void post(public_url, '{}', { headers })
      await eventually(async () => ((await keysHeldByWaiting(database)) > 0 ? true : undefined))
      let second: Answer | undefined
      void post(public_url.replace(world.baseUrl, beside.baseUrl), '{}', { headers }).then(
        (answer) => (second = answer),
      )
      return eventually(async () => {
        beside.clock.advance(500)
        return second
      })
    })
  } finally {
    await beside.stop()
  }
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
  const { workspace_id: workspaceId, user_id: userId } = await database.one<{ workspace_id: string; user_id: string }>({
    strings: ['select workspace_id, user_id from members'],
    values: [],
  })
  return signedIn(world, { workspaceId, userId })
}

/** Nothing lets an agent in yet: what its rung says, as the router answers it. */
async function anAgentWhoMayRead(): Promise<Answer> {
  const router = createRouter(world.app.deps, (otherwise) => otherwise)
  router.get('/admin/api/rules', () => {
    throw (
      scopeRefusal(
        {
          kind: 'agent',
          agentId: 'agent:test',
          userId: '',
          role: 'admin',
          scopes: ['service:read'],
          manageUrl: `${world.baseUrl}/settings/agents/test`,
        },
        { scope: 'service:write' },
      ) ?? assert.fail()
    )
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
  return {
    status: answer?.status ?? 0,
    headers: new Headers({ 'request-id': /^request-id: (\S+)/im.exec(answer?.head ?? '')?.[1] ?? '' }),
    body: JSON.parse(answer?.body ?? '{}'),
  }
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

const head = (headers: string): string =>
  `POST ${new URL(world.endpoint).pathname} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`

async function aPausedDelivery(): Promise<string> {
  const { destination } = await aDestination(world, { url: sink.url, enabled: false })
  const { body } = await post(world.endpoint, '{}')
  const { body: listed } = await world.admin(
    'GET',
    `deliveries?record_id=${body.records[0].id}&destination_id=${destination.id}`,
  )
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
  return meanwhile.onTheFreePlan(async () => {
    const open = [await sse(world.baseUrl + path), await sse(world.baseUrl + path)]
    const answer = await aGet(path)
    for (const client of open) client.close()
    return answer
  })
}

/** A page of another origin opens a WebSocket in the browser of somebody who is signed in. */
async function aForeignPage(): Promise<Answer> {
  const cookie = (await anOwner(world)).header()
  const handshake =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
  return onWire(
    world.baseUrl,
    `GET /admin/api/stream HTTP/1.1\r\nHost: a\r\n${handshake}\r\nOrigin: https://elsewhere.example\r\nCookie: ${cookie}\r\n\r\n`,
  )
}

/** A second node with settings of its own, and a browser at it. */
async function atADoor(
  env: Record<string, string>,
  work: (browser: Browser, baseUrl: string) => Promise<Answer>,
): Promise<Answer> {
  const node = await aWorld({ beside: world, env })
  try {
    return await work(new Browser(node.address), node.baseUrl)
  } finally {
    await node.stop()
  }
}

async function byProvider(
  env: Record<string, string>,
  work: (provider: IdentityProvider, at: { browser: Browser; baseUrl: string }) => Promise<Answer>,
): Promise<Answer> {
  const provider = await anIdentityProvider()
  try {
    return await atADoor({ ...settingsFor(provider), ...env }, (browser, baseUrl) =>
      work(provider, { browser, baseUrl }),
    )
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
  await database.run(
    sql`update one_time_tokens set hash = ${hashCredential(token)} where email = 'soon-taken@example.com'`,
  )
  const { userId } = await aPerson(world, database)
  await database.run(sql`update users set email = 'soon-taken@example.com' where id = ${userId}`)
  return owner.call('PUT account/email', { token })
}

const PRODUCED: Readonly<Record<Reason, () => Promise<Answer>>> = {
  endpoint_not_found: () => post(`${world.endpoint}x`, '{}'),
  ingest_key_not_found: () => post(`${world.baseUrl}/v1/ingest/ik_live_unknown`, '{}'),
  endpoint_disabled: async () => post((await aWebhook(world, { enabled: false })).public_url, '{}'),
  ip_not_allowed: async () => post((await aWebhook(world, { ip_allowlist: ['203.0.113.7'] })).public_url, '{}'),
  workspace_suspended: () => meanwhile.suspended(() => post(world.endpoint, '{}')),
  burst_limited: () => meanwhile.afterABurst(world.endpoint, () => post(world.endpoint, '{}')),
  cors_origin_not_allowed: async () =>
    post((await aWebhook(world, { cors: { origins: ['https://shop.example'] } })).public_url, '{}', {
      headers: { origin: 'https://other.example' },
    }),
  handshake_failed: () => getJson(`${world.endpoint}?hub.challenge=1&hub.mode=subscribe&hub.verify_token=t`),
  invalid_challenge: async () =>
    getJson(
      `${(await aWebhook(world, { handshake: { kind: 'hub_challenge', verify_token: 't' } })).public_url}?hub.challenge=`,
    ),
  scope_missing: async () =>
    post(`${world.baseUrl}/v1/ingest/${(await anIngestKey(world, { scopes: ['stream'] })).key}/d`, '{}'),
  dataset_not_allowed: async () =>
    post(`${world.baseUrl}/v1/ingest/${(await anIngestKey(world, { datasets: ['mine'] })).key}/other`, '{}'),
  payload_too_large: () => post(world.endpoint, `"${'a'.repeat(1_048_576)}"`),
  records_too_large: async () => {
    const mappings = Array.from({ length: 9 }, (_, index) => ({ target: `t${index}`, path: 'a' }))
    return post((await aWebhook(world, { mappings })).public_url, JSON.stringify({ a: 'x'.repeat(1_000_000) }))
  },
  unsupported_encoding: () => post(world.endpoint, '{}', { headers: { 'content-encoding': 'compress' } }),
  missing_header: async () => post((await aWebhook(world, SIGNED)).public_url, '{}'),
  bad_signature: () => aSignedPost(0, 'another'),
  stale_timestamp: () => aSignedPost(301),
  empty_body: () => post(world.endpoint, ''),
  invalid_body: () => post(world.endpoint, '{'),
  loop_detected: () => post(world.endpoint, '{}', { headers: { 'service-hops': '5' } }),
  invalid_dataset: () => post(`${world.endpoint}/not-a-name`, '{}'),
  dataset_limit_reached: async () =>
    world.admin('POST', `projects/${await aFullProject()}/datasets`, { name: 'one_more' }),
  invalid_idempotency_key: () => post(world.endpoint, '{}', { headers: { 'idempotency-key': 'with a space' } }),
  idempotency_key_reused: async () => {
    const { public_url } = await aWebhook(world)
    await post(public_url, '{}', { headers: { 'idempotency-key': 'reused' } })
    return post(public_url, '{"other":1}', { headers: { 'idempotency-key': 'reused' } })
  },
  idempotency_in_progress: () => aSecondInFlight(),
  quota_exceeded: async () => {
    const { public_url } = await aWebhook(world)
    return meanwhile.withoutQuota(() => post(public_url, '{}'))
  },
  delivery_allowance_exhausted: async () => {
    const id = await aFailedDelivery()
    return meanwhile.withoutQuota(() => world.admin('POST', `deliveries/${id}/replay`))
  },
  storage_unavailable: () => meanwhile.locked(() => post(world.endpoint, '{"never":"stored"}')),
  unauthorized: () => world.admin('GET', 'me', undefined, { authorization: 'Bearer hk_unknown' }),
  api_key_expired: () =>
    meanwhile.changed('update api_keys set expires_at = created_at', 'update api_keys set expires_at = null', () =>
      world.admin('GET', 'me'),
    ),
  api_key_revoked: () =>
    meanwhile.changed('update api_keys set revoked_at = now()', 'update api_keys set revoked_at = null', () =>
      world.admin('GET', 'me'),
    ),
  rate_limited: () => atABusyNode((busy) => busy.admin('GET', 'me')),
  agent_not_permitted: () => world.admin('POST', 'api-keys', { name: 'another', role: 'viewer' }),
  agent_scope_insufficient: () => anAgentWhoMayRead(),
  idempotency_key_refused: async () =>
    post(`${world.baseUrl}/admin/api/api-keys`, '{"name":"again","role":"viewer"}', {
      headers: { ...(await aPage()), 'idempotency-key': 'k' },
    }),
  idempotency_keys_exhausted: () =>
    meanwhile.changed(
      `insert into idempotency_records (workspace_id, id, key_hash, fingerprint, claimed_at)
    select w.id, gen_random_uuid(), decode(lpad(to_hex(n), 64, '0'), 'hex'), '', to_timestamp(${world.clock.now() / 1_000}) from workspaces w, generate_series(1, 10000) as n`,
      'delete from idempotency_records',
      () => world.admin('POST', 'rules', { name: 'one more', dataset: 'x' }, { 'idempotency-key': 'one-more' }),
    ),
  csrf_header_missing: () => world.admin('POST', 'session', { token: 'any' }),
  insufficient_role: () =>
    meanwhile.changed("update api_keys set role = 'viewer'", "update api_keys set role = 'admin'", () =>
      world.admin('POST', 'rules', { name: 'x', dataset: 'x' }),
    ),
  project_out_of_scope: () =>
    meanwhile.changed(
      `update api_keys set project_id = '${projectUuid()}'`,
      'update api_keys set project_id = null',
      () => world.admin('GET', 'projects'),
    ),
  not_found: () => world.admin('GET', 'rules/rul_01kf0rdqg0e31tkzsaqv275w2x'),
  route_not_found: () => world.admin('GET', 'nowhere'),
  method_not_allowed: () => world.admin('PUT', 'webhooks'),
  unsupported_version: () => world.admin('GET', 'me', undefined, { 'service-version': '1999-01-01' }),
  invalid_request: () => world.admin('POST', 'rules', { name: 'x' }),
  slug_taken: async () => world.admin('POST', 'webhooks', { name: 'again', slug: (await aWebhook(world)).slug }),
  name_taken: async () => world.admin('POST', 'rules', { name: (await aRule(world)).name, dataset: 'x' }),
  default_project: () => world.admin('DELETE', `projects/${world.installed.project.id}`),
  invalid_state: async () => world.admin('POST', `deliveries/${await aPausedDelivery()}/replay`),
  overlap_running: async () => {
    const { id } = await aWebhook(world)
    await world.admin('POST', `webhooks/${id}/rotate`, {})
    return world.admin('POST', `webhooks/${id}/rotate`, { end_overlap: false })
  },
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
    meanwhile.changed(
      "update workspaces set plan = 'free'; insert into users (id, name, created_at) select gen_random_uuid(), 'Full', now() from generate_series(1, 3); insert into members (workspace_id, user_id, role, created_at) select w.id, u.id, 'viewer', now() from workspaces w, users u where u.name = 'Full'",
      "update workspaces set plan = 'self_hosted'; delete from members where user_id in (select id from users where name = 'Full')",
      async () => (await anOwner(world)).call('POST invites', { email: 'one-more@example.com', role: 'viewer' }),
    ),
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
    for (let kept = 0; kept < LIMITS.dataExportsReadyMax; kept += 1)
      await aReadyExport(world, database, { workspaceId })
    return world.admin('POST', 'data-export')
  },
  export_over: async () => {
    const id = await aReadyExport(world, database, await theWorkspace(database))
    await database.run(sql`update data_exports set expires_at = ${new Date(world.clock.now())}`)
    return world.admin('GET', `data-export/${id}/download`)
  },
  range_not_satisfiable: async () =>
    world.admin(
      'GET',
      `data-export/${await aReadyExport(world, database, await theWorkspace(database))}/download`,
      undefined,
      { range: 'bytes=1000-' },
    ),
  workspace_closed: () =>
    meanwhile.changed('update workspaces set closed_at = now()', 'update workspaces set closed_at = null', () =>
      world.admin('POST', 'rules', { name: 'x', dataset: 'x' }),
    ),
  workspace_limit_reached: async () => {
    const owner = await anOwner(world)
    return meanwhile.changed(
      "insert into workspaces (id, slug, name, created_at) select gen_random_uuid(), 'owned-' || n, 'Owned', now() from generate_series(1, 50) n; insert into members (workspace_id, user_id, role, created_at) select w.id, m.user_id, 'owner', now() from workspaces w, members m where w.name = 'Owned' and m.role = 'owner'",
      "delete from members where workspace_id in (select id from workspaces where name = 'Owned'); delete from workspaces where name = 'Owned'",
      () => owner.call('POST workspaces', { name: 'x' }),
    )
  },
  invalid_url: () => world.admin('POST', 'destinations', { name: 'inside', url: 'http://10.0.0.1/' }),
  sign_in_failed: () => new Browser(world.baseUrl).call('POST session', { email: 'nobody@example.com', password: 'x' }),
  link_over: () => new Browser(world.baseUrl).call('POST session', { token: 'unknown' }),
  passkey_refused: () =>
    atADoor({ PUBLIC_URL: 'http://localhost:1' }, (at) =>
      at.call('POST session', { passkey: { id: 'a', rawId: 'a', type: 'public-key', response: {} } }),
    ),
  no_account: () =>
    byProvider({}, (provider, at) =>
      signInThere(provider, at.browser, { baseUrl: at.baseUrl, claims: { sub: 'stranger' } }),
    ),
  no_workspace: async () => {
    const browser = await aPersonsBrowser()
    await database.run(sql`delete from members where user_id in (select user_id from passwords)`)
    return browser.call('GET me')
  },
  email_domain_not_allowed: () =>
    byProvider({ OIDC_ALLOWED_DOMAINS: 'example.com' }, (provider, at) =>
      signInThere(provider, at.browser, { baseUrl: at.baseUrl, claims: { sub: 'stranger' } }),
    ),
  wrong_password: async () =>
    (await aPersonsBrowser()).call('PUT account/password', { current_password: 'not it', new_password: PASSWORD }),
  weak_password: async () => (await anOwner(world)).call('PUT account/password', { new_password: 'password' }),
  email_taken: async () => aTakenAddress(),
  recent_sign_in_required: async () => {
    const owner = await anOwner(world)
    await database.run(sql`update sessions set created_at = created_at - interval '16 minutes'`)
    return owner.call('POST account/email', { email: 'somebody@example.com' })
  },
  passkeys_unavailable: () => new Browser(world.baseUrl).call('POST session/passkey-options', {}),
  passkey_limit_reached: () =>
    atADoor({ PUBLIC_URL: 'http://localhost:1' }, async (at) => {
      await at.call('POST session', { token: new URL(await signInLink(world.app.deps)).hash.slice(3) })
      const many = `insert into passkeys (id, user_id, credential_id, name, public_key, counter, transports, created_at) select gen_random_uuid(), (select user_id from members where role = 'owner'), n::text, 'full', '', 0, '{}', now() from generate_series(1, 20) n`
      return meanwhile.changed(many, "delete from passkeys where name = 'full'", () =>
        at.call('POST account/passkeys/options', {}),
      )
    }),
  too_many_attempts: async () => {
    for (let asked = 0; asked < 3; asked += 1) await askForLink()
    return askForLink()
  },
  oidc_not_configured: () => new Browser(world.baseUrl).call('GET session/oidc'),
  oidc_state_lost: () => new Browser(world.baseUrl).call('GET session/oidc/callback?state=x'),
  identity_provider_error: () =>
    atADoor(
      { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b', LOG_LEVEL: 'silent' },
      (at) => at.call('GET session/oidc'),
    ),
  stream_key_required: () => aGet('/v1/stream?key=ik_live_unknown'),
  stream_limit_reached: () => aFullStream(),
  origin_not_allowed: () => aForeignPage(),
  malformed_request: () => onWire(world.baseUrl, head('Host: b\r\n')),
  request_timeout: () => anImpatientAnswer(),
  headers_too_large: () => onWire(world.baseUrl, head(`X: ${'a'.repeat(70_000)}\r\n`)),
  overloaded: () => atANodeWithoutDatabase((lost) => lost.admin('GET', 'me')),
  internal: () => meanwhile.withoutRules(() => world.admin('GET', 'rules')),
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
    assert.deepEqual(
      Object.keys(REASONS).filter((reason) => !Object.hasOwn(PRODUCED, reason)),
      [],
    )
  })
})
