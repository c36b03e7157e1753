import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeId, encodeId, LIMITS, REASONS, type Reason } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql } from '../../src/platform/db.ts'
import { signInLink } from '../../src/resources/operate/installation/index.ts'
import { Browser } from '../stage/browser.ts'
import { aDestination, aName, anIngestKey, aRule, aWebhook, post, statement } from '../stage/fixtures.ts'
import { type Answer } from '../stage/harness.ts'
import { signInThere } from '../stage/identity-provider.ts'
import { anOwner, PASSWORD } from '../stage/accounts.ts'
import { inEighth } from '../stage/eighths.ts'
import { atANodeWithoutDatabase } from '../stage/meanwhile.ts'
import { paymentSettings } from '../stage/payment-server.ts'
import { aReadyExport, theWorkspace } from '../stage/people.ts'
import {
  world,
  database,
  meanwhile,
  SIGNED,
  aSignedPost,
  aFailedDelivery,
  getJson,
  projectUuid,
  aSecondInFlight,
  aFullProject,
  atABusyNode,
  aHeavyDryRun,
  aPage,
  onWire,
  anImpatientAnswer,
  head,
  aPausedDelivery,
  aGet,
  aFullStream,
  aForeignPage,
  atADoor,
  byProvider,
  aPersonsBrowser,
  aResolvedAlert,
  askForLink,
  aTakenAddress,
  onRefusalStage,
} from '../stage/refusal-examples.ts'
import { AGENT_REFUSALS } from '../stage/agent-refusals.ts'
import { oauthRefusals } from '../stage/oauth-refusals.ts'
import { PORTAL_REFUSALS } from '../stage/portal-refusals.ts'
import { anAgentOf, aRunOf } from '../stage/ai-stage.ts'
import { TRANSFORM_CODE } from '../stage/example-transforms.ts'

/**
 * Every reason of the table is produced through real HTTP. The list is typed by the table: a reason that no test
 * produces does not compile here, and a reason that cannot be produced has no place in the table.
 */
onRefusalStage()

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
  automation_limit_reached: async () => {
    const { id } = (await world.admin('POST', 'projects', { name: aName('project') })).body.project
    await statement(
      database,
      `insert into ai_providers (workspace_id, project_id, id, name, kind, base_url, default_model, structured_outputs, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), n, 'openai', 'https://example.com', 'm', true, now(), now() from projects, generate_series(1, ${LIMITS.aiProvidersPerProjectMax}) n where id = '${decodeId('project', id)}'`,
    )
    return world.admin('POST', `projects/${id}/ai-providers`, { name: 'One more', kind: 'openai', default_model: 'm' })
  },
  ai_provider_in_use: async () => {
    const { provider } = await anAgentOf(world)
    return world.admin('DELETE', `ai-providers/${provider}`)
  },
  ai_agent_in_use: async () => {
    const { agent } = await anAgentOf(world)
    await world.admin('POST', 'triggers', { name: aName('trigger'), dataset: 'nothing_here', agent_id: agent })
    return world.admin('DELETE', `ai-agents/${agent}`)
  },
  ai_run_ended: async () => {
    const id = await aRunOf(world)
    await world.admin('POST', `ai-runs/${id}/cancel`)
    return world.admin('POST', `ai-runs/${id}/cancel`)
  },
  ai_run_not_ended: async () => world.admin('POST', `ai-runs/${await aRunOf(world)}/retry`),
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
  provider_unavailable: async () => {
    const TopicArn = 'arn:aws:sns:us-east-1:123456789012:orders'
    const { public_url } = await aWebhook(world, { verification: { scheme: 'aws_sns', secret: TopicArn } })
    const message = { TopicArn, SigningCertURL: 'https://sns.xx-nowhere-1.amazonaws.com:1/x.pem' }
    return post(public_url, JSON.stringify(message), { headers: { 'x-amz-sns-message-type': 'Notification' } })
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
  project_changed: async () => {
    const planned = await world.admin('POST', 'config/plan', { config: { version: 1 } })
    await aRule(world)
    return world.admin('POST', 'config/apply', { config: { version: 1 }, plan: planned.body.plan.id })
  },
  alert_resolved: async () => {
    const id = await aResolvedAlert()
    return world.admin('POST', `alerts/${id}/mute`, {})
  },
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
  transform_limit_reached: async () => {
    await statement(
      database,
      `insert into transforms (workspace_id, project_id, id, name, version, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), 'full-' || n, 1, now(), now() from projects, generate_series(1, ${LIMITS.transformsPerProjectMax}) n where is_default`,
    )
    const answer = await world.admin('POST', 'transforms', { name: 'One more', code: TRANSFORM_CODE })
    await statement(database, "delete from transforms where name like 'full-%'")
    return answer
  },
  transform_in_use: async () => {
    const { transform } = (await world.admin('POST', 'transforms', { name: aName('used'), code: TRANSFORM_CODE })).body
    await aDestination(world, { url: 'https://example.com/', transform_id: transform.id })
    return world.admin('DELETE', `transforms/${transform.id}`)
  },
  workflow_limit_reached: async () => {
    const definition = { entry_dataset: 'none', steps: [{ id: 'later', type: 'delay', seconds: 60 }] }
    await statement(
      database,
      `insert into workflows (workspace_id, project_id, id, name, slug, active, version, entry_dataset, entry_conditions, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), 'full', 'full-' || n, false, 1, 'none', '[]', now(), now() from projects, generate_series(1, ${LIMITS.workflowsPerProjectMax}) n where is_default`,
    )
    const answer = await world.admin('POST', 'workflows', { name: 'One more', ...definition })
    await statement(database, "delete from workflows where name = 'full'")
    return answer
  },
  replay_limit_reached: async () => {
    await aFailedDelivery()
    await statement(
      database,
      `insert into replays (workspace_id, project_id, id, kind, filter, rate_per_second, state, pause_reason, upto, next_at, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), 'replay', '{"state":["failed"],"conditions":[]}', 1, 'paused', 'by_hand', id, now(), now(), now() from projects, generate_series(1, ${LIMITS.replaysOpenMax}) where is_default`,
    )
    return world.admin('POST', 'deliveries/replays', { filter: {} })
  },
  forwarder_limit_reached: async () => {
    const body = { endpoint: 'https://otlp.example.com', enabled: false }
    for (let made = 0; made < LIMITS.forwardersPerProjectMax; made += 1)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await world.admin('POST', 'forwarders', { ...body, name: `forwarder ${made}` })
    return world.admin('POST', 'forwarders', { ...body, name: 'one too many' })
  },
  source_limit_reached: async () => {
    await statement(
      database,
      `insert into cron_triggers (workspace_id, project_id, id, name, expression, time_zone, dataset, enabled, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), n, '0 0 * * *', 'UTC', 'ticks', false, now(), now() from projects, generate_series(1, ${LIMITS.cronTriggersPerProjectMax}) n where is_default`,
    )
    return world.admin('POST', 'cron-triggers', { name: 'One more', expression: '0 0 * * *', dataset: 'ticks' })
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
  billing_not_configured: async () => (await anOwner(world)).call('POST billing/portal'),
  payment_provider_error: () =>
    atADoor(
      { ...paymentSettings('http://127.0.0.1:9', encodeId('webhook', randomUUID())), LOG_LEVEL: 'silent' },
      async (browser) => {
        await anOwner(world, browser)
        return browser.call('POST billing/checkout', { plan: 'team' })
      },
    ),
  sso_not_available: () => world.admin('PUT', 'sso/any', {}),
  own_address_missing: () => world.admin('PUT', 'settings/network', { ip_allowlist: ['203.0.113.9'] }),
  workspace_creation_closed: async () => {
    const developer = await aPersonsBrowser()
    return meanwhile.changed(
      "update platform_settings set workspace_creation = 'operators'",
      "update platform_settings set workspace_creation = 'anyone'",
      () => developer.call('POST workspaces', { name: 'x' }),
    )
  },
  stream_key_required: () => aGet('/v1/stream?key=ik_live_unknown'),
  data_key_required: () => aGet('/v1/data'),
  data_key_expired: async () => {
    const { data_key, key } = (await world.admin('POST', 'data-keys', { name: aName('reader') })).body
    await statement(
      database,
      `update data_keys set expires_at = created_at where id = '${decodeId('dataKey', data_key.id)}'`,
    )
    return aGet('/v1/data', { authorization: `Bearer ${key}` })
  },
  data_key_limit_reached: async () => {
    const { id } = (await world.admin('POST', 'projects', { name: aName('project') })).body.project
    await statement(
      database,
      `insert into data_keys (workspace_id, project_id, id, name, shown_prefix, requests_per_10_seconds, ip_allowlist, created_at, updated_at)
       select workspace_id, id, gen_random_uuid(), n, 'hdk_', 1, '{}', now(), now() from projects, generate_series(1, ${LIMITS.dataKeysPerProjectMax}) n where id = '${decodeId('project', id)}'`,
    )
    return world.admin('POST', `projects/${id}/data-keys`, { name: 'One more' })
  },
  ...PORTAL_REFUSALS,
  not_acceptable: async () => {
    const { key } = (await world.admin('POST', 'data-keys', { name: aName('reader') })).body
    return aGet('/v1/data/events', { authorization: `Bearer ${key}`, accept: 'image/png' })
  },
  stream_limit_reached: () => aFullStream(),
  origin_not_allowed: () => aForeignPage(),
  malformed_request: () => onWire(world.baseUrl, head('Host: b\r\n')),
  request_timeout: () => anImpatientAnswer(),
  headers_too_large: () => onWire(world.baseUrl, head(`X: ${'a'.repeat(70_000)}\r\n`)),
  work_limited: () => aHeavyDryRun({ waitingMax: 0 }),
  work_timed_out: () => aHeavyDryRun({ runMs: 0 }),
  work_too_large: () => aHeavyDryRun({ memoryMb: 16 }),
  overloaded: () => atANodeWithoutDatabase((lost) => lost.admin('GET', 'me')),
  internal: () => meanwhile.withoutRules(() => world.admin('GET', 'rules')),
  // At the end, because they create workspaces.
  ...AGENT_REFUSALS,
  ...oauthRefusals(() => ({ world, database })),
}

describe('every reason is produced, with its status, a sentence and a Request-Id', () => {
  for (const [reason, produce] of inEighth(Object.entries(PRODUCED))) {
    test(reason, async () => {
      const { status, headers, body } = await produce()
      assert.deepEqual([body.reason, status], [reason, REASONS[reason as Reason].status], JSON.stringify(body))
      assert.match(body.error, /^\S.{10,}[.…]$/su)
      assert.match(headers.get('request-id') ?? '', /^req_/)
    })
  }

  test('no reason of the table is missing', () => {
    assert.deepEqual(
      Object.keys(REASONS).filter((reason) => !Object.hasOwn(PRODUCED, reason)),
      [],
    )
  })
})
