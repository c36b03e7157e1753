import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { decodeId, encodeId } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql } from '../../src/platform/db.ts'
import { randomText } from '../../src/platform/ids.ts'
import {
  call,
  created,
  database,
  home,
  itemsOf,
  personally,
  sink,
  world,
  type Asked,
  type Named,
  type Place,
} from './admin-asking.ts'
import { aName, signedIn } from './fixtures.ts'
import { eventually, type Answer } from './harness.ts'
import { aMember, aReadyExport, aWorkspace } from './people.ts'

/**
 * An example for every admin route: the request, with every resource that it needs. admin-routes.test.ts counts them.
 */
type Example = (at: Place) => Promise<Asked> | Asked

const withId = (id: string): Asked => ({ params: { id } })
const aWebhookIn = async (at: Place): Promise<Asked> => withId((await created(at, 'webhooks', {})).webhook.id)
const aRuleIn = async (at: Place): Promise<Asked> => withId((await created(at, 'rules', { dataset: 'routed' })).rule.id)
const aDatasetIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'datasets', { name: `d${randomUUID().slice(0, 8)}` })).dataset.id)
const anIngestKeyIn = async (at: Place): Promise<Asked> => withId((await created(at, 'ingest-keys', {})).ingest_key.id)
export const aProjectIn = async (at: Place): Promise<Asked> => withId((await created(at, 'projects', {})).project.id)

/** Subscribed to no existing dataset, unless the caller names one. */
const aDestinationIn = async (at: Place, dataset = 'Nothing'): Promise<Asked> =>
  withId((await created(at, 'destinations', { url: sink.url, datasets: [dataset] })).destination.id)

const withBody = async (asked: Asked | Promise<Asked>, body: object): Promise<Asked> => ({ ...(await asked), body })

export async function anEventIn(at: Place): Promise<Answer['body']> {
  const { key } = await created(at, 'ingest-keys', {})
  const response = await fetch(`${world.baseUrl}/v1/ingest/${key}/filed`, { method: 'POST', body: '{"a":1}' })
  assert.equal(response.status, 201)
  return response.json()
}

export async function aDeliveredIn(at: Place): Promise<Asked> {
  const dataset = `e${randomUUID().slice(0, 8)}`
  const { params } = await aDestinationIn(at, dataset)
  const { key } = await created(at, 'ingest-keys', {})
  assert.equal(
    (await fetch(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, { method: 'POST', body: '{"a":1}' })).status,
    201,
  )
  const found = await eventually(async () => {
    const { body } = await call(at, 'GET deliveries', {
      query: { state: 'delivered', destination_id: params?.['id'] ?? '' },
    })
    return body.deliveries[0]
  }, 2_000)
  return withId(found.id)
}

/** The attempt of a delivery. */
async function anAttemptIn(at: Place): Promise<Asked> {
  const { delivery } = (await call(at, `GET deliveries/${(await aDeliveredIn(at)).params?.['id']}`)).body
  return withId(delivery.attempts[0].id)
}

/** A delivery that was attempted once and waits for its next attempt. */
async function aWaitingIn(at: Place): Promise<Asked> {
  const dataset = `e${randomUUID().slice(0, 8)}`
  const { destination } = await created(at, 'destinations', {
    url: 'http://127.0.0.1:9/',
    datasets: [dataset],
    retry: { schedule_seconds: [0, 86_400] },
  })
  const { key } = await created(at, 'ingest-keys', {})
  assert.equal(
    (await fetch(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, { method: 'POST', body: '{"a":1}' })).status,
    201,
  )
  const found = await eventually(
    async () =>
      (await call(at, 'GET deliveries', { query: { state: 'retrying', destination_id: destination.id } })).body
        .deliveries[0],
  )
  return withId(found.id)
}

/** A destination whose breaker is open, with a delivery that waits for it. */
async function anOpenBreakerIn(at: Place): Promise<Asked> {
  const { params } = await aWaitingIn(at)
  const { delivery } = (await call(at, `GET deliveries/${params?.['id']}`)).body
  const memory = {
    breaker: {
      state: 'open',
      failures_in_row: 10,
      failing_ms: 0,
      opened_ms: 0,
      probe_in_ms: 30_000,
      probe_wait_ms: 30_000,
      cap: 0,
      counts: [],
    },
    rate: null,
    breaker_resets: 0,
  }
  await database.run(sql`
    update lanes
       set memory = ${JSON.stringify(memory)}::json,
           remembered_at = ${new Date(world.clock.now())}
     where workspace_id = ${at.workspaceId}
       and destination_id = ${decodeId('destination', delivery.destination_id) ?? null}
  `)
  return withId(delivery.destination_id)
}

/**
 * A filter that matches a delivery, in a project with no other open replay: replays do not end while the clock does not
 * move.
 */
async function deliveredOnly(at: Place): Promise<object> {
  await database.run(
    sql`update replays set state = 'cancelled', pause_reason = null, ended_at = now() where workspace_id = ${at.workspaceId} and state in ('running', 'paused')`,
  )
  const { delivery } = (await call(at, `GET deliveries/${(await aDeliveredIn(at)).params?.['id']}`)).body
  return { state: ['delivered'], destination_id: delivery.destination_id }
}

async function aReplayIn(at: Place): Promise<Asked> {
  return withId(
    (await call(at, 'POST deliveries/replays', { body: { filter: await deliveredOnly(at) } })).body.replay.id,
  )
}

/** A request that an endpoint refused, once it is in the rejection log. */
export async function aRefusalIn(at: Place): Promise<Asked> {
  const { webhook } = await created(at, 'webhooks', { enabled: false })
  assert.equal((await fetch(webhook.public_url, { method: 'POST', body: '{}' })).status, 503)
  await eventually(async () => {
    world.clock.advance(1_000)
    return itemsOf(await call(at, 'GET rejections', { query: { webhook_id: webhook.id } }))[0]
  })
  return withId(webhook.id)
}

const anApiKeyIn = async (at: Place): Promise<Asked> =>
  withId((await personally(at, 'POST api-keys', { name: aName('made'), role: 'viewer' })).body.api_key.id)

/** A person with a separate workspace. */
export async function anotherOwner(): Promise<
  Required<Pick<Asked, 'by' | 'actor'>> & {
    readonly slug: string
    readonly workspaceId: string
    readonly userId: string
  }
> {
  const slug = `w${randomUUID().slice(0, 8)}`
  const owner = await aWorkspace(world, database, slug)
  return { ...owner, slug, by: { headers: await signedIn(world, owner) }, actor: encodeId('user', owner.userId) }
}

/** A member who can be removed. */
export async function aMemberIn(at: Place): Promise<Asked> {
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

const anInviteIn = async (at: Place): Promise<Asked> =>
  withId(
    (await personally(at, 'POST invites', { email: `${randomUUID()}@example.com`, role: 'viewer' })).body.invite.id,
  )

/** An invite from the place to a person of another workspace; the token is as if it had been mailed. */
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

/** A workspace that an operator does something to, and what its audit log names. */
async function aWorkspaceOfAnother(body?: object): Promise<Asked> {
  const { workspaceId } = await anotherOwner()
  const id = encodeId('workspace', workspaceId)
  return { params: { id }, target: id, ...(body === undefined ? {} : { body }) }
}

async function aSuspended(): Promise<Asked> {
  const asked = await aWorkspaceOfAnother()
  const path = `platform/workspaces/${asked.params?.['id']}/suspend`
  assert.equal((await personally(home, `POST ${path}`, { reason: 'An example' })).status, 200)
  return asked
}

async function aCustomer({ workspaceId }: Place): Promise<Asked> {
  await database.run(sql`
    insert into billing_accounts (workspace_id, customer_id, created_at)
    values (${workspaceId}, ${`cus_of_${workspaceId}`}, now())
    on conflict do nothing
  `)
  return { target: encodeId('workspace', workspaceId) }
}

async function aLockedOut(): Promise<Asked> {
  const asked = await aWorkspaceOfAnother()
  await database.run(sql`
    insert into network_access (workspace_id, ip_allowlist, updated_at)
    values (${decodeId('workspace', asked.params?.['id'] ?? '') ?? ''}, '{203.0.113.9}', now())
  `)
  return asked
}

/** A request of a workspace that no other example uses, since a newer request ends it. */
async function anSsoRequestOf(owner: Awaited<ReturnType<typeof anotherOwner>>): Promise<Asked> {
  const { body } = await call(owner.by, 'POST sso/requests', { body: { domains: ['example.com'] } })
  return withId(body.request.id)
}

const anSsoRequestIn = async (at: Place): Promise<Asked> =>
  withId((await personally(at, 'POST sso/requests', { domains: ['example.com'] })).body.request.id)

async function aCancellation(): Promise<Asked> {
  const owner = await anotherOwner()
  return { by: owner.by, actor: owner.actor, ...(await anSsoRequestOf(owner)) }
}

/** In the place itself, where an id of another place must not be found. */
const anAnnouncement = async (): Promise<Asked> =>
  withId((await personally(home, 'POST platform/broadcasts', { title: aName('made'), text: 'x' })).body.broadcast.id)

export const EXAMPLES: Readonly<Record<string, Example>> = {
  'activity.list': aRefusalIn,
  'apiKeys.list': () => ({}),
  'apiKeys.create': () => ({ body: { name: aName('made'), role: 'developer', ip_allowlist: ['127.0.0.1', '::/0'] } }),
  'apiKeys.remove': anApiKeyIn,
  'attempts.get': anAttemptIn,
  'audit.list': () => ({ query: { action: 'create_ingest_key' } }),
  'audit.exportCsv': () => ({ query: { action: 'create_webhook' } }),
  'audit.verify': () => ({}),
  'config.export': () => ({}),
  'config.plan': () => ({
    body: {
      config: {
        version: 1,
        rules: [{ name: aName('planned'), dataset: 'routed', conditions: [{ path: 'a', equals: 1 }] }],
      },
    },
  }),
  // Nothing to do: the change itself has one audit row.
  'config.apply': ({ project }) => ({ body: { config: { version: 1 } }, target: project }),
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
  'deliveryHolds.list': () => ({}),
  'destinations.list': () => ({}),
  'destinations.probe': anOpenBreakerIn,
  'destinations.create': () => ({
    body: { name: aName('made'), url: sink.url, datasets: ['Nothing'], headers: { 'X-A': 'canary-header' } },
  }),
  'destinations.get': aDestinationIn,
  'destinations.update': (at) => withBody(aDestinationIn(at), { timeout_ms: 2_000 }),
  'destinationPreviews.make': async (at) => ({
    body: { url: sink.url, record_id: (await anEventIn(at)).records[0].id },
  }),
  'destinationSinks.create': () => ({ body: { name: aName('sink'), datasets: ['Nothing'] } }),
  'destinationPresets.list': () => ({}),
  'sourcePresets.list': () => ({}),
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
  'ingestKeys.rotateSigningSecret': async (at) => ({
    ...withId((await created(at, 'ingest-keys', { require_signature: true })).ingest_key.id),
    body: { overlap_hours: 1 },
  }),
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
  'rules.create': () => ({
    body: { name: aName('made'), dataset: 'routed', conditions: [{ path: 'a', op: 'gt', value: 5 }] },
  }),
  'rules.get': aRuleIn,
  'rules.update': (at) => withBody(aRuleIn(at), { enabled: false }),
  'rules.remove': aRuleIn,
  'rules.test': () => ({ body: { conditions: [{ path: 'a', equals: 1 }], payloads: [{ a: 1, b: 'canary-payload' }] } }),
  'search.deliveries': () => ({ query: { state: 'delivered,failed', q: 'a' } }),
  'search.events': () => ({ query: { dataset: 'filed', f: 'a:equals:1' } }),
  'search.submissions': () => ({ query: { q: 'a' } }),
  'search.correlate': async (at) => withId((await anEventIn(at)).id),
  'submissions.list': () => ({}),
  'submissions.get': async (at) => withId((await anEventIn(at)).id),
  'webhooks.list': () => ({}),
  'webhooks.create': () => ({
    body: {
      name: aName('made'),
      verification: { scheme: 'code_host', secret: 'canary-verification' },
      handshake: { kind: 'hub_challenge', verify_token: 'canary-token' },
    },
  }),
  'webhooks.get': aWebhookIn,
  'webhooks.update': (at) => withBody(aWebhookIn(at), { enabled: false }),
  'webhooks.remove': aWebhookIn,
  'webhooks.test': (at) => withBody(aWebhookIn(at), { payloads: [{ a: 'canary-payload' }] }),
  'webhooks.rotate': (at) => withBody(aWebhookIn(at), { overlap_hours: 1 }),
  'webhooks.rotateVerificationSecret': (at) =>
    withBody(aVerifyingWebhookIn(at), { secret: 'canary-rotated', overlap_hours: 1 }),
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
  'broadcasts.list': () => ({}),
  'billing.get': () => ({}),
  'billing.checkout': (at) => ({ target: encodeId('workspace', at.workspaceId), body: { plan: 'team' } }),
  'billing.openPortal': aCustomer,
  'network.get': () => ({}),
  'network.update': (at) => ({
    target: encodeId('workspace', at.workspaceId),
    body: { ip_allowlist: ['127.0.0.0/8', '::1', '203.0.113.0/24'] },
  }),
  'platformAudit.list': () => ({}),
  'platformBroadcasts.list': () => ({}),
  'platformBroadcasts.create': () => ({ body: { title: aName('made'), text: 'An example.', severity: 'warning' } }),
  'platformBroadcasts.withdraw': anAnnouncement,
  'platformHealth.get': () => ({}),
  'platformSettings.get': () => ({}),
  'platformSettings.update': () => ({ target: '', body: { support_contact: 'support@example.com' } }),
  'platformSsoRequests.list': () => ({}),
  'platformSsoRequests.get': anSsoRequestIn,
  'platformSsoRequests.decide': async () => ({
    ...(await anSsoRequestOf(await anotherOwner())),
    body: { status: 'approved', reason: 'An example' },
  }),
  'platformWorkspaces.list': () => ({ query: { q: 'w' } }),
  'platformWorkspaces.get': () => aWorkspaceOfAnother(),
  'platformWorkspaces.suspend': () => aWorkspaceOfAnother({ reason: 'An example' }),
  'platformWorkspaces.reinstate': aSuspended,
  'platformWorkspaces.setPlan': () => aWorkspaceOfAnother({ plan: 'free' }),
  'platformWorkspaces.clearNetwork': aLockedOut,
  'sso.get': () => ({}),
  'ssoRequests.list': () => ({}),
  'ssoRequests.create': () => ({ body: { domains: ['example.com'], note: 'An example' } }),
  'ssoRequests.cancel': aCancellation,
  'webhooks.refusedSamples': aRefusalIn,
  'webhooks.signSample': (at) => withBody(aVerifyingWebhookIn(at), { body: '{}' }),
  'webhooks.verifySample': (at) => withBody(aWebhookIn(at), { headers: {}, body: '{}' }),
}

async function anExportIn(at: Place): Promise<Asked> {
  return withId(await aReadyExport(world, database, at))
}

/** With an export under way, or with the maximum number of stored exports, nobody could request one. */
async function anEmptyShelf({ workspaceId }: Place): Promise<Asked> {
  await database.run(
    sql`update data_exports set state = 'failed', expires_at = null where workspace_id = ${workspaceId}`,
  )
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

export const example = async ({ name }: Named, at: Place): Promise<Asked> =>
  EXAMPLES[name]?.(at) ?? assert.fail(`${name} has no example`)
