import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { decodeId, encodeId, type IdKind } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { call, database, enterPlacesWith, leavePlaces, world } from './admin-asking.ts'
import { aGrantedAgent } from './agents-granted.ts'
import { post, signedIn } from './fixtures.ts'
import { aKeyOf, aReadyExport, aWorkspace, type Headers, type Member } from './people.ts'
import { DATABASE } from './source-settings.ts'

/**
 * Three tenants on the server of the admin stage, each with one resource of every kind. No loop may run there, so that
 * their rows change only by requests.
 */

/** A project with one resource of each kind. `ids` by kind, as the path, query or body takes them. */
export type House = {
  readonly workspaceId: string
  readonly project: string
  readonly owner: Headers
  readonly ids: Readonly<Partial<Record<IdKind, string>>>
}

export let victim: House
/** In another workspace. */
export let stranger: House
/** In another project of the victim's workspace. */
export let neighbor: House

export const MARK = 'v1ct1m'

async function aHouse({
  of,
  project,
  owner,
  mark,
}: {
  of: Member
  project: string
  owner: Headers
  mark: string
}): Promise<House> {
  const by = { headers: owner }
  const send = async (line: string, body?: object) => {
    const answer = await call(by, line, body === undefined ? {} : { body })
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  const make = (path: string, body: object) =>
    send(`POST projects/${project}/${path}`, { name: `${mark} ${path}`, ...body })
  const { webhook } = await make('webhooks', { verification: { scheme: 'hmac', secret: 'whispered' } })
  const { view } = await make(`webhooks/${webhook.id}/views`, { name: mark, columns: [{ key: mark }] })
  const { rule } = await make('rules', { dataset: mark })
  const { destination } = await make('destinations', { url: `http://127.0.0.1:9/${mark}` })
  const { ingest_key, key } = await make('ingest-keys', {})
  const { dataset } = await make('datasets', { name: `described_${mark}`, description: mark })
  const { ai_provider } = await make('ai-providers', {
    kind: 'openai_compatible',
    base_url: `http://127.0.0.1:9/${mark}`,
    default_model: mark,
  })
  const { ai_agent } = await make('ai-agents', { provider_id: ai_provider.id, instructions: mark })
  const { trigger } = await make('triggers', { dataset: mark, agent_id: ai_agent.id })
  // Disabled, so that no loop changes their rows.
  const idle = { dataset: mark, enabled: false }
  const { cron_trigger: cronTrigger } = await make('cron-triggers', { ...idle, expression: '0 9 * * *' })
  const { source } = await make('sources', { ...idle, settings: DATABASE })
  const { ws_trigger: wsTrigger } = await make('ws-triggers', { ...idle, url: `ws://127.0.0.1:9/${mark}` })
  const { data_key } = await make('data-keys', {})
  const { portal } = await make('portals', { branding: { name: mark } })
  const { portal_token: portalToken } = await make(`portals/${portal.id}/tokens`, {
    name: undefined,
    customer_id: mark,
  })
  const { transform } = await make('transforms', { code: `const transform = () => ({ body: '${mark}' })` })
  const { forwarder } = await make('forwarders', { endpoint: `http://127.0.0.1:9/${mark}`, enabled: false })
  const submission = (await post(`${world.baseUrl}/v1/ingest/${key}/${mark}`, JSON.stringify({ mark }))).body
  const [delivery] = (await send(`GET projects/${project}/deliveries`)).deliveries
  const [run] = (await send(`GET projects/${project}/search/ai-runs`)).ai_runs
  // Nothing is sent here, so the test sets the state directly in the database.
  await database.run(
    sql`update deliveries set state = 'failed', next_attempt_at = null where id = ${decodeId('delivery', delivery.id) ?? ''}`,
  )
  const { replay } = await send(`POST projects/${project}/deliveries/replays`, { filter: {} })
  const { workflow } = await make('workflows', {
    entry_dataset: `unused_${mark}`,
    steps: [{ id: mark, type: 'delay', seconds: 86_400 }],
  })
  const { instance } = await make(`workflows/${workflow.id}/run`, {
    name: undefined,
    record_id: submission.records[0].id,
  })
  const { id: apiKey } = await aKeyOf(world, database, of)
  const { id: connectedAgent } = await aGrantedAgent(world, database, { ...of, scope: 'service:read' })
  const { invite } = await send('POST invites', { email: `${mark}@example.com`, role: 'viewer' })
  const { request } = await send('POST sso/requests', { domains: [`${mark}.example.com`] })
  const doomed = (await make('rules', { name: `doomed ${mark}`, dataset: mark })).rule
  const { deletion } = await send(`DELETE projects/${project}/rules/${doomed.id}`)
  const ids = {
    deletion: deletion.id,
    ssoRequest: request.id,
    aiProvider: ai_provider.id,
    aiAgent: ai_agent.id,
    aiTrigger: trigger.id,
    aiRun: run.id,
    cronTrigger: cronTrigger.id,
    source: source.id,
    wsTrigger: wsTrigger.id,
    forwarder: forwarder.id,
    transform: transform.id,
    alert: await anAlert(of.workspaceId, destination.id),
    dataExport: await aReadyExport(world, database, of),
    replay: replay.id,
    workflow: workflow.id,
    workflowInstance: instance.id,
    invite: invite.id,
    webhook: webhook.id,
    recordView: view.id,
    rule: rule.id,
    destination: destination.id,
    ingestKey: ingest_key.id,
    dataKey: data_key.id,
    portal: portal.id,
    customer: portalToken.customer.id,
    portalToken: portalToken.id,
    dataset: dataset.id,
    submission: submission.id,
    record: submission.records[0].id,
    delivery: delivery.id,
    attempt: await anAttempt(of.workspaceId, delivery.id),
    apiKey,
    connectedAgent,
    project,
    user: encodeId('user', of.userId),
    workspace: encodeId('workspace', of.workspaceId),
  }
  return { workspaceId: of.workspaceId, project, owner, ids }
}

/** An open alert about a destination. No loop runs here, so the test writes the row. */
async function anAlert(workspaceId: string, destinationId: string): Promise<string> {
  const id = world.app.deps.uuid()
  await database.run(sql`
    insert into alerts (workspace_id, project_id, id, type, subject_kind, subject_id, subject_name, severity, value, peak, detail, opened_at, updated_at)
    select workspace_id, project_id, ${id}::uuid, 'backlog.old', 'destination', id, name, 'warning', 61, 61, '{}', now(), now()
      from destinations
     where workspace_id = ${workspaceId}
       and id = ${decodeId('destination', destinationId) ?? ''}
  `)
  return encodeId('alert', id)
}

/** An attempt that has failed. Nothing is sent here, so the test writes the row. */
async function anAttempt(workspaceId: string, deliveryId: string): Promise<string> {
  const id = world.app.deps.uuid()
  await database.run(sql`
    insert into delivery_attempts (workspace_id, project_id, id, delivery_id, destination_id, number, trigger, fence, started_at, duration_ms, outcome, error_code)
    select workspace_id, project_id, ${id}::uuid, id, destination_id, 1, 'initial', 1, now(), 3, 'failed', 'connection_refused'
      from deliveries
     where workspace_id = ${workspaceId}
       and id = ${decodeId('delivery', deliveryId) ?? ''}
  `)
  return encodeId('attempt', id)
}

async function buildHouses(): Promise<void> {
  const [here, elsewhere] = [await aWorkspace(world, database, 'victim'), await aWorkspace(world, database, 'stranger')]
  const owners = { here: await signedIn(world, here, database), elsewhere: await signedIn(world, elsewhere, database) }
  const other = await call({ headers: owners.here }, 'POST projects', { body: { name: 'neighbor' } })
  const project = encodeId('project', here.defaultProjectId)
  victim = await aHouse({ of: here, project, owner: owners.here, mark: MARK })
  neighbor = await aHouse({ of: here, project: other.body.project.id, owner: owners.here, mark: 'neighbor' })
  stranger = await aHouse({
    of: elsewhere,
    project: encodeId('project', elsewhere.defaultProjectId),
    owner: owners.elsewhere,
    mark: 'stranger',
  })
}

/** The id of a kind in this house. */
export const ofHouse =
  (house: House) =>
  (kind: IdKind): string =>
    house.ids[kind] ?? assert.fail(`A house has no ${kind}: make one in aHouse.`)

/** A digest of all rows of the victim in every table with a project. */
export async function victimsRows(): Promise<readonly object[]> {
  const tables = await database.many<{ name: string }>(sql`
    select c.table_name as name
      from information_schema.columns c
     where c.table_schema = 'public' and c.column_name = 'project_id'
     order by c.table_name
  `)
  const id = decodeId('project', victim.project)
  const digests = tables.map(({ name }) =>
    database.one<{ digest: string }>({
      strings: [
        `select '${name} ' || count(*) || ' ' || md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest from "${name}" t where project_id = '${id}'`,
      ],
      values: [],
    }),
  )
  return Promise.all(digests)
}

/** A file calls this once, before its tests: the server of the admin stage without loops, and the houses on it. */
export function onHouses(): void {
  before(async () => {
    await enterPlacesWith({ ROLES: 'web' })
    await buildHouses()
  })
  after(leavePlaces)
}
