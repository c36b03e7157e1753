import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { decodeId, encodeId } from '@postroad/contract'
import { asSystem } from '../../src/as-system.ts'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql } from '../../src/platform/db.ts'
import { randomText } from '../../src/platform/ids.ts'
import { insertAgentAccount } from '../../src/resources/people/agent-accounts/queries.ts'
import { queueMail, sendDueMails } from '../../src/resources/people/mails/index.ts'
import { insertProject } from '../../src/resources/workspace/projects/index.ts'
import { insertOwner, insertWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { inTransaction } from '../../src/transaction.ts'
import { call, created, database, home, personally, sink, world, type Asked, type Place } from './admin-asking.ts'
import { aGrantedAgent } from './agents-granted.ts'
import { aName, signedIn } from './fixtures.ts'
import type { Answer } from './harness.ts'
import { aMember, aReadyExport, aWorkspace } from './people.ts'
import { DATABASE } from './source-settings.ts'

/** The resources that the examples of admin routes need. */

export const withId = (id: string): Asked => ({ params: { id } })
export const aWebhookIn = async (at: Place): Promise<Asked> => withId((await created(at, 'webhooks', {})).webhook.id)
export const aRuleIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'rules', { dataset: 'routed' })).rule.id)
/** A deleted rule, which can be restored. */
export async function aDeletionIn(at: Place): Promise<Asked> {
  const { params } = await aRuleIn(at)
  const { status, body } = await call(at, `DELETE rules/${params?.['id']}`)
  assert.equal(status, 200)
  return { ...withId(body.deletion.id), target: params?.['id'] ?? '' }
}
export const aCronTriggerIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'cron-triggers', { expression: '0 9 * * *', dataset: 'ticks' })).cron_trigger.id)
export const aSourceIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'sources', { dataset: 'rows', settings: DATABASE })).source.id)
/** A trigger that cannot connect. */
export const aWsTriggerIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'ws-triggers', { url: 'ws://127.0.0.1:9/', dataset: 'frames' })).ws_trigger.id)
/** The settings of a forwarder without a receiver. */
export const NO_RECEIVER = {
  endpoint: 'http://127.0.0.1:9/otlp',
  headers: { authorization: 'Bearer canary-forwarder' },
}
export const aForwarderIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'forwarders', { ...NO_RECEIVER, enabled: false })).forwarder.id)
export const aDatasetIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'datasets', { name: `d${randomUUID().slice(0, 8)}` })).dataset.id)
export const aDataKeyIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'data-keys', { name: aName('reader') })).data_key.id)
const aPortal = async (at: Place): Promise<string> =>
  (await created(at, 'portals', { serves: 'many_customers' })).portal.id
export const aPortalIn = async (at: Place): Promise<Asked> => withId(await aPortal(at))
export async function aPortalCustomerIn(at: Place): Promise<Asked> {
  const id = await aPortal(at)
  const { customer } = (await call(at, `POST portals/${id}/customers`, { body: { customer_id: aName('customer') } }))
    .body
  return { params: { id, customer: customer.id } }
}
export async function aPortalTokenIn(at: Place): Promise<Asked> {
  const id = await aPortal(at)
  const { portal_token } = (await call(at, `POST portals/${id}/tokens`, { body: { customer_id: 'made before' } })).body
  return { params: { id, token: portal_token.id } }
}
export const anIngestKeyIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'ingest-keys', {})).ingest_key.id)
export const aProjectIn = async (at: Place): Promise<Asked> => withId((await created(at, 'projects', {})).project.id)

/** A destination that subscribes to no existing dataset. */
export const aDestinationIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'destinations', { url: sink.url, datasets: ['Nothing'] })).destination.id)

export const withBody = async (asked: Asked | Promise<Asked>, body: object): Promise<Asked> => ({
  ...(await asked),
  body,
})

export async function anEventIn(at: Place, dataset = 'filed'): Promise<Answer['body']> {
  const { key } = await created(at, 'ingest-keys', {})
  const response = await fetch(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, { method: 'POST', body: '{"a":1}' })
  assert.equal(response.status, 201)
  return response.json()
}

/** A provider of models whose address has no server. */
export const PROVIDER = {
  kind: 'openai_compatible',
  base_url: 'http://127.0.0.1:9/v1',
  api_key: 'canary-model-key',
  default_model: 'small',
}
export const anAiProviderIn = async (at: Place): Promise<Asked> =>
  withId((await created(at, 'ai-providers', PROVIDER)).ai_provider.id)
const anAgent = async (at: Place): Promise<string> => {
  const { id: provider_id } = (await created(at, 'ai-providers', PROVIDER)).ai_provider
  return (await created(at, 'ai-agents', { provider_id, instructions: 'Sort it.' })).ai_agent.id
}
export const anAiAgentIn = async (at: Place): Promise<Asked> => withId(await anAgent(at))
const aTrigger = async (at: Place, dataset: string): Promise<string> =>
  (await created(at, 'triggers', { dataset, agent_id: await anAgent(at) })).trigger.id
export const anAiTriggerIn = async (at: Place): Promise<Asked> => withId(await aTrigger(at, 'nothing_here'))

/** A run that waits, because no loop works on it. */
export async function anAiRunIn(at: Place): Promise<Asked> {
  const dataset = `a${randomUUID().slice(0, 8)}`
  await aTrigger(at, dataset)
  await anEventIn(at, dataset)
  const { body } = await call(at, 'GET search/ai-runs', { query: { state: 'queued' } })
  return withId(body.ai_runs[0].id)
}
export async function aCanceledRunIn(at: Place): Promise<Asked> {
  const asked = await anAiRunIn(at)
  await call(at, `POST ai-runs/${asked.params?.['id']}/cancel`)
  return asked
}

type Attempted = { readonly delivery: string; readonly attempt: string; readonly destination: string }

/**
 * A delivery after its first attempt, as a turn leaves it. No loop sends anything here, so the rows are written
 * directly.
 */
async function anAttemptedIn(at: Place, state: 'delivered' | 'retrying'): Promise<Attempted> {
  const dataset = `e${randomUUID().slice(0, 8)}`
  const { destination } = await created(at, 'destinations', { url: sink.url, datasets: [dataset] })
  await anEventIn(at, dataset)
  const query = { destination_id: destination.id }
  const delivery = (await call(at, 'GET deliveries', { query })).body.deliveries[0].id
  const due = state === 'retrying' ? new Date(world.clock.now() + 86_400_000) : null
  const outcome =
    state === 'retrying'
      ? { outcome: 'failed', status: null, error: 'connection_refused' }
      : { outcome: 'succeeded', status: 200, error: null }
  const [id, deliveryId] = [world.app.deps.uuid(), decodeId('delivery', delivery) ?? '']
  await database.run(sql`
    with attempted as (
      update deliveries
         set state = ${state}, attempt_count = 1, next_attempt_at = ${due}, last_status = ${outcome.status},
             last_error = ${outcome.error}
       where workspace_id = ${at.workspaceId} and id = ${deliveryId}
      returning *
    )
    insert into delivery_attempts (
      workspace_id, project_id, id, delivery_id, destination_id, number, trigger, fence, started_at, duration_ms,
      outcome, response_status, response_headers, response_body, response_truncated, error_code, next_attempt_at
    )
    select workspace_id, project_id, ${id}::uuid, id, destination_id, 1, 'initial', 1, now(), 3,
           ${outcome.outcome}, last_status, '{"content-type":"text/plain"}', 'ok', false, last_error, next_attempt_at
      from attempted
  `)
  return { delivery, attempt: encodeId('attempt', id), destination: destination.id }
}

export const aDeliveredIn = async (at: Place): Promise<Asked> => withId((await anAttemptedIn(at, 'delivered')).delivery)
export const anAttemptIn = async (at: Place): Promise<Asked> => withId((await anAttemptedIn(at, 'delivered')).attempt)
/** A delivery that was attempted once and waits for its next attempt. */
export const aWaitingIn = async (at: Place): Promise<Asked> => withId((await anAttemptedIn(at, 'retrying')).delivery)

/** A destination whose breaker is open, with a delivery that waits for it. */
export async function anOpenBreakerIn(at: Place): Promise<Asked> {
  const { destination } = await anAttemptedIn(at, 'retrying')
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
       and destination_id = ${decodeId('destination', destination) ?? null}
  `)
  return withId(destination)
}

/**
 * A filter that matches a delivery, in a project with no other open replay: replays do not end while the clock does not
 * move.
 */
export async function deliveredOnly(at: Place): Promise<object> {
  await database.run(
    sql`update replays set state = 'cancelled', pause_reason = null, ended_at = now() where workspace_id = ${at.workspaceId} and state in ('running', 'paused')`,
  )
  return { state: ['delivered'], destination_id: (await anAttemptedIn(at, 'delivered')).destination }
}

export async function aReplayIn(at: Place): Promise<Asked> {
  return withId(
    (await call(at, 'POST deliveries/replays', { body: { filter: await deliveredOnly(at) } })).body.replay.id,
  )
}

/** A request that an endpoint refused, once it is in the rejection log. */
export async function aRefusalIn(at: Place): Promise<Asked> {
  const { webhook } = await created(at, 'webhooks', { enabled: false })
  assert.equal((await fetch(webhook.public_url, { method: 'POST', body: '{}' })).status, 503)
  await world.run('rejections.flush')
  const { body } = await call(at, 'GET rejections', { query: { webhook_id: webhook.id } })
  assert.equal(body.rejections.length, 1)
  return withId(webhook.id)
}

export const anApiKeyIn = async (at: Place): Promise<Asked> =>
  withId((await personally(at, 'POST api-keys', { name: aName('made'), role: 'viewer' })).body.api_key.id)

export async function aConnectedAgentIn(at: Place): Promise<Asked> {
  const { workspaceId } = at
  const { user_id: userId } = await database.one<{ user_id: string }>(
    sql`select user_id from members where workspace_id = ${workspaceId} and role = 'owner' order by created_at limit 1`,
  )
  return withId((await aGrantedAgent(world, database, { workspaceId, userId, scope: 'service:read' })).id)
}

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
  return {
    ...owner,
    slug,
    by: { headers: await signedIn(world, owner, database) },
    actor: encodeId('user', owner.userId),
  }
}

/** A member who can be removed. */
export async function aMemberIn(at: Place): Promise<Asked> {
  const { userId } = await aMember(world, database, { workspaceId: at.workspaceId, role: 'viewer' })
  return withId(encodeId('user', userId))
}

export async function aLeaver(at: Place): Promise<Asked> {
  const member = await aMember(world, database, { workspaceId: at.workspaceId, role: 'developer' })
  const actor = encodeId('user', member.userId)
  return { by: { headers: await signedIn(world, member, database) }, actor, target: actor, body: {} }
}

export async function aTransfer(): Promise<Asked> {
  const { workspaceId, ...owner } = await anotherOwner()
  const { userId } = await aMember(world, database, { workspaceId, role: 'viewer' })
  return { ...owner, body: { user_id: encodeId('user', userId) } }
}

export const anInviteIn = async (at: Place): Promise<Asked> =>
  withId(
    (await personally(at, 'POST invites', { email: `${randomUUID()}@example.com`, role: 'viewer' })).body.invite.id,
  )

/** An invite from the place to a person of another workspace; the token is as if it had been mailed. */
export async function anAcceptance(at: Place): Promise<Asked> {
  const { workspaceId: _, ...guest } = await anotherOwner()
  const [email, token] = [`${randomUUID()}@example.com`, `canary-${randomText(20)}`]
  await database.run(sql`update users set email = ${email} where id = ${guest.userId}`)
  const { invite } = (await personally(at, 'POST invites', { email, role: 'viewer' })).body
  await database.run(sql`update invites set token_hash = ${hashCredential(token)} where email = ${email}`)
  return { ...guest, target: invite.id, body: { token } }
}

/** An account that an agent registered, claimed by a person of another workspace. */
export async function aClaim(): Promise<Asked> {
  const { workspaceId: _, ...person } = await anotherOwner()
  const { uuid } = world.app.deps
  const [workspaceId, userId, id, token] = [uuid(), uuid(), uuid(), `hct_${randomText(43)}`]
  const now = new Date(world.clock.now())
  await insertWorkspace(database, { id: workspaceId, slug: aName('agent').replaceAll(' ', '-'), name: 'Agent', now })
  await insertOwner(database, { workspaceId, id: userId, name: 'Agent', now })
  await insertProject(database, { workspaceId, id: uuid(), slug: 'default', name: 'Default', isDefault: true, now })
  await insertAgentAccount(database, {
    workspace_id: workspaceId,
    id,
    user_id: userId,
    name: 'Agent',
    operator_contact: null,
    terms_version: '1',
    claimHash: hashCredential(token),
    created_at: now,
  })
  return { ...person, target: encodeId('agentAccount', id), body: { claim_token: token } }
}

export async function aClosed(): Promise<Asked> {
  const owner = await anotherOwner()
  assert.equal((await call(owner.by, 'POST workspace/close', { body: { confirm: owner.slug } })).status, 200)
  return owner
}

export async function aSwitch(): Promise<Asked> {
  const owner = await anotherOwner()
  const { workspace } = (await call(owner.by, 'POST workspaces', { body: { name: aName('other') } })).body
  return { ...owner, body: { workspace_id: workspace.id } }
}

export async function aClosing(): Promise<Asked> {
  const owner = await anotherOwner()
  return { ...owner, body: { confirm: owner.slug } }
}

/** A workspace for an action of an operator, which is also the target in the audit log. */
export async function aWorkspaceOfAnother(body?: object): Promise<Asked> {
  const { workspaceId } = await anotherOwner()
  const id = encodeId('workspace', workspaceId)
  return { params: { id }, target: id, ...(body === undefined ? {} : { body }) }
}

export async function aSuspended(): Promise<Asked> {
  const asked = await aWorkspaceOfAnother()
  const path = `platform/workspaces/${asked.params?.['id']}/suspend`
  assert.equal((await personally(home, `POST ${path}`, { reason: 'An example' })).status, 200)
  return asked
}

export async function aCustomer({ workspaceId }: Place): Promise<Asked> {
  await database.run(sql`
    insert into billing_accounts (workspace_id, customer_id, created_at)
    values (${workspaceId}, ${`cus_of_${workspaceId}`}, now())
    on conflict do nothing
  `)
  return { target: encodeId('workspace', workspaceId) }
}

export async function aLockedOut(): Promise<Asked> {
  const asked = await aWorkspaceOfAnother()
  await database.run(sql`
    insert into network_access (workspace_id, ip_allowlist, updated_at)
    values (${decodeId('workspace', asked.params?.['id'] ?? '') ?? ''}, '{203.0.113.9}', now())
  `)
  return asked
}

/** A request of a workspace that no other example uses, because a newer request would end it. */
export async function anSsoRequestOf(owner: Awaited<ReturnType<typeof anotherOwner>>): Promise<Asked> {
  const { body } = await call(owner.by, 'POST sso/requests', { body: { domains: ['example.com'] } })
  return withId(body.request.id)
}

export const anSsoRequestIn = async (at: Place): Promise<Asked> =>
  withId((await personally(at, 'POST sso/requests', { domains: ['example.com'] })).body.request.id)

export async function aCancellation(): Promise<Asked> {
  const owner = await anotherOwner()
  return { by: owner.by, actor: owner.actor, ...(await anSsoRequestOf(owner)) }
}

/** An announcement of the operator, who is the owner of the first place. */
export const anAnnouncement = async (): Promise<Asked> =>
  withId((await personally(home, 'POST platform/broadcasts', { title: aName('made'), text: 'x' })).body.broadcast.id)

/** An email that no mail server sent. */
export async function anOutboxMail(): Promise<Asked> {
  const system = asSystem(world.app.deps, { workspaceId: '', projectId: '', requestId: 'example' })
  const message = { subject: aName('Hello'), lines: ['An example.'] }
  await inTransaction(system, (tx) =>
    queueMail(tx, { kind: 'example', to: 'ada@example.com', message, usefulMs: 3_600_000 }),
  )
  await sendDueMails(world.app.deps)
  const { mails } = (await personally(home, 'GET platform/health')).body.health
  return withId(mails.outbox[0].id)
}

export async function anExportIn(at: Place): Promise<Asked> {
  return withId(await aReadyExport(world, database, at))
}

/** Ends all exports, because an export under way, or the maximum number of stored ones, would refuse a request. */
export async function withoutDataExports({ workspaceId }: Place): Promise<Asked> {
  await database.run(
    sql`update data_exports set state = 'failed', expires_at = null where workspace_id = ${workspaceId}`,
  )
  return {}
}

export async function aVerifyingWebhookIn(at: Place): Promise<Asked> {
  return withId((await created(at, 'webhooks', { verification: { scheme: 'hmac', secret: 'whispered' } })).webhook.id)
}

export async function aVersionIn(at: Place): Promise<Asked> {
  const { params } = await aWebhookIn(at)
  return { params: { ...params, version: '1' } }
}

export async function aViewIn(at: Place): Promise<Asked> {
  const { params } = await aWebhookIn(at)
  const { view } = await created(at, `webhooks/${params?.['id']}/views`, { columns: [{ key: 'a' }] })
  return { params: { ...params, view_id: view.id } }
}

/** An open alert, as the loop makes one. */
export async function anAlertIn({ workspaceId, projectId }: Place): Promise<Asked> {
  const id = world.app.deps.uuid()
  await database.run(sql`
    insert into alerts (workspace_id, project_id, id, type, subject_kind, subject_id, subject_name, severity, value, peak, detail, opened_at, updated_at)
    values (${workspaceId}, ${projectId}, ${id}, 'destination.failing', 'destination', ${randomUUID()}, 'ERP', 'warning', 7, 7, '{}',
            ${new Date(world.clock.now())}, ${new Date(world.clock.now())})
  `)
  return withId(encodeId('alert', id))
}
