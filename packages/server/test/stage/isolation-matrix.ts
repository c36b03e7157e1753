import assert from 'node:assert/strict'
import { decodeId, encodeId, ID_PREFIXES, type IdKind } from '@postroad/contract'
import type { z } from 'zod'
import { sql, type Database } from '../../src/platform/db.ts'
import { mountedRoutes, type Mounted } from '../../src/surfaces/admin/mount.ts'
import { aGrantedAgent } from './agents-granted.ts'
import { post, signedIn } from './fixtures.ts'
import type { World } from './harness.ts'
import { aKeyOf, aReadyExport, aMember, ask, aWorkspace, theWorkspace, type Headers, type Member } from './people.ts'
import { onWorldStage } from './world-stage.ts'
import { DATABASE } from './source-settings.ts'

/**
 * The isolation matrix, derived from the contract: every mounted route, asked by every caller, with the ids of other
 * tenants.
 */
export let world: World
export let database: Database

/** A project with one resource of each kind. `ids` by kind, as the path, query or body takes them. */
export type House = {
  readonly workspaceId: string
  readonly project: string
  readonly owner: Headers
  readonly ids: Readonly<Partial<Record<IdKind, string>>>
}

export let victim: House
/** `stranger` is in another workspace, and `neighbor` is in another project of the victim's workspace. */
export let stranger: House
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
  const make = async (path: string, body: object) => {
    const answer = await ask(world, `POST projects/${project}/${path}`, {
      headers: owner,
      body: { name: `${mark} ${path}`, ...body },
    })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
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
  const { forwarder } = await make('forwarders', { endpoint: `http://127.0.0.1:9/${mark}`, enabled: false })
  const submission = (await post(`${world.baseUrl}/v1/ingest/${key}/${mark}`, JSON.stringify({ mark }))).body
  const [delivery] = (await ask(world, `GET projects/${project}/deliveries`, { headers: owner })).body.deliveries
  const [run] = (await ask(world, `GET projects/${project}/search/ai-runs`, { headers: owner })).body.ai_runs
  // Nothing is sent here, so the test sets the state directly in the database.
  await database.run(
    sql`update deliveries set state = 'failed', next_attempt_at = null where id = ${decodeId('delivery', delivery.id) ?? ''}`,
  )
  const { replay } = (
    await ask(world, `POST projects/${project}/deliveries/replays`, { headers: owner, body: { filter: {} } })
  ).body
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
  const { invite } = (
    await ask(world, 'POST invites', { headers: owner, body: { email: `${mark}@example.com`, role: 'viewer' } })
  ).body
  const { request } = (
    await ask(world, 'POST sso/requests', { headers: owner, body: { domains: [`${mark}.example.com`] } })
  ).body
  const doomed = (await make('rules', { name: `doomed ${mark}`, dataset: mark })).rule
  const { deletion } = (await ask(world, `DELETE projects/${project}/rules/${doomed.id}`, { headers: owner })).body
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

// The ids that the contract declares

export const EVERY = mountedRoutes()
/** Operators see every workspace, so ids of other tenants prove nothing about their routes. */
export const MOUNTED = EVERY.filter(({ route }) => route.operator !== true)
export const nameOf = ({ room, verb, url }: Mounted): string => `${room}.${verb} ${url}`
const KINDS = Object.keys(ID_PREFIXES) as IdKind[]

/** Ids that the contract takes as plain text. */
const PLAIN: Readonly<Record<string, IdKind>> = {
  'records.listOfWebhook view': 'recordView',
  'search.correlate id': 'submission',
}

type Place = 'params' | 'query' | 'body'

/** The members of a place of a route that are ids, with their kind: the schema accepts only an id of that kind. */
export function idsIn(
  { route, room, verb }: Mounted,
  place: Place,
): readonly (readonly [name: string, kind: IdKind])[] {
  return Object.entries(shapeOf(route[place])).flatMap(([name, schema]) => {
    const kind =
      PLAIN[`${room}.${verb} ${name}`] ??
      (takes(schema, 'nonsense') ? undefined : KINDS.find((one) => takes(schema, randomId(one))))
    return kind === undefined ? [] : [[name, kind] as const]
  })
}

export const shapeOf = (schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> =>
  schema !== undefined && 'shape' in schema ? (schema.shape as Record<string, z.ZodType>) : {}
const takes = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success
export const randomId = (kind: IdKind): string => encodeId(kind, world.app.deps.uuid())

const A_WORKFLOW = { name: 'x', entry_dataset: 'x', steps: [{ id: 'x', type: 'delay', seconds: 1 }] }

/** The bodies that a route needs before it looks anything up. */
const BODIES: Readonly<Record<string, object>> = {
  'apiKeys.create': { name: 'x', role: 'viewer' },
  'connectedAgents.update': { scope: 'service:read' },
  'members.update': { role: 'viewer' },
  'datasets.update': { description: 'x' },
  'projects.update': { name: 'x' },
  'recordViews.create': { name: 'x', columns: [{ key: 'x' }] },
  'portalCustomers.create': { customer_id: 'x' },
  'portalTokens.create': { customer_id: 'x' },
  'rules.test': { conditions: [] },
  'destinations.recover': { since: '2026-01-01T00:00:00Z', dry_run: true },
  'sources.test': { settings: DATABASE },
  'webhooks.test': { payloads: [{}] },
  'workflows.replace': A_WORKFLOW,
  'workflows.update': A_WORKFLOW,
  'workflows.run': { record_id: encodeId('record', '019ab4c0-2f00-7a1b-8c2d-3e4f5a6b7c8d') },
  'quarantine.update': { hours: 24 },
  'webhooks.verifySample': { headers: {}, body: '{}' },
}

export type Asked = {
  readonly project: string
  readonly params: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

export async function send(mounted: Mounted, headers: Headers, { project, params, query = {}, body = {} }: Asked) {
  const { route, room, verb, url } = mounted
  const path = url
    .replace('/admin/api/', '')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'project_id' ? project : (params[name] ?? '1')))
  const search = new URLSearchParams(query).toString()
  const whole = { ...BODIES[`${room}.${verb}`], ...body }
  const answer = await ask(world, `${route.method} ${path}${search === '' ? '' : `?${search}`}`, {
    headers,
    ...(route.body === undefined ? {} : { body: whole }),
  })
  return { status: answer.status, reason: answer.body.reason as string | undefined, text: JSON.stringify(answer.body) }
}

export const paramsOf = (mounted: Mounted, idOf: (kind: IdKind) => string): Record<string, string> =>
  Object.fromEntries(idsIn(mounted, 'params').map(([name, kind]) => [name, idOf(kind)]))
export const ofHouse =
  (house: House) =>
  (kind: IdKind): string =>
    house.ids[kind] ?? assert.fail(`A house has no ${kind}: make one in aHouse.`)

export const isLookedUp = ({ route }: Mounted): boolean => route.path.includes('{')

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, next))
}

/** Unknown ids; a body only where the route needs one before it looks the ids up. */
export function sendBare(mounted: Mounted, headers: Headers, project: string) {
  const whole = isLookedUp(mounted) ? mounted : { ...mounted, verb: '-' }
  return send(whole, headers, {
    project,
    params: paramsOf(mounted, randomId),
    ...(isLookedUp(mounted) ? {} : { body: { frobnicate: 1 } }),
  })
}

/** Both answers, without the ids that were sent. */
export async function assertSame(
  mounted: Mounted,
  headers: Headers,
  { theirs, random, struck }: { theirs: Asked; random: Asked; struck: readonly string[] },
): Promise<number> {
  const answers = (await Promise.all([send(mounted, headers, theirs), send(mounted, headers, random)])).map(
    ({ status, text }) => ({ status, text: struck.reduce((all, id) => all.replaceAll(id, '•'), text) }),
  )
  const [first, second] = answers
  assert.deepEqual(first, second, nameOf(mounted))
  assert.ok(
    first !== undefined && !first.text.includes(MARK),
    `${nameOf(mounted)} shows data of the victim: ${first?.text}`,
  )
  return first.status
}

type Askers = {
  readonly who: string
  readonly house: House
  readonly headers: readonly Headers[]
  readonly inWorkspace: boolean
}

/**
 * Callers with every right in their own workspace, in the console and by keys; the data that they may not see is the
 * data of the victim.
 */
async function askers(): Promise<readonly Askers[]> {
  const strange = await aMember(world, database, { workspaceId: stranger.workspaceId, role: 'owner' })
  const near = await aMember(world, database, { workspaceId: victim.workspaceId, role: 'owner' })
  const keys = [
    await aKeyOf(world, database, near),
    await aGrantedAgent(world, database, { ...near, scope: 'service:manage' }),
    await aKeyOf(world, database, { ...near, projectId: decodeId('project', neighbor.project) ?? '' }),
  ]
  return [
    {
      who: 'another workspace',
      house: stranger,
      headers: [
        stranger.owner,
        (await aKeyOf(world, database, strange)).headers,
        (await aGrantedAgent(world, database, { ...strange, scope: 'service:manage' })).headers,
      ],
      inWorkspace: false,
    },
    {
      who: 'another project',
      house: neighbor,
      headers: [neighbor.owner, ...keys.map(({ headers }) => headers)],
      inWorkspace: true,
    },
  ]
}

/**
 * Within the same workspace, the routes of the workspace itself are not foreign; nor is the alias, which is the
 * victim's own project.
 */
const isForeignTo = ({ route, url }: Mounted, { inWorkspace }: Askers): boolean =>
  !inWorkspace || (route.area === 'project' && url.includes('{project_id}'))
const mayAsk = ({ route }: Mounted, headers: Headers): boolean =>
  (route.callers === 'all' && route.role !== 'owner') || 'cookie' in headers

/** A digest of all rows of the victim in every table with a project. */
export async function victimsRows(): Promise<readonly object[]> {
  const tables = await database.many<{ name: string; column: string }>(sql`
    select c.table_name as name, max(c.column_name) as column
      from information_schema.columns c
     where c.table_schema = 'public' and c.column_name = 'project_id'
     group by c.table_name
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

type Case = { readonly asker: Askers; readonly mounted: Mounted; readonly headers: Headers }

/** Every asker, with each of their credentials, at every route that is foreign to them. */
export async function cases(which: (mounted: Mounted) => boolean): Promise<readonly Case[]> {
  return (await askers()).flatMap((asker) =>
    MOUNTED.filter((mounted) => which(mounted) && isForeignTo(mounted, asker)).flatMap((mounted) =>
      asker.headers.filter((headers) => mayAsk(mounted, headers)).map((headers) => ({ asker, mounted, headers })),
    ),
  )
}

/** A file calls this once, before its tests. */
export function onIsolationStage(): void {
  onWorldStage(
    async (made) => {
      ;({ world, database } = made)
      const home = await theWorkspace(database)
      const elsewhere = await aWorkspace(world, database, 'stranger')
      const owners = { home: await signedIn(world, home), elsewhere: await signedIn(world, elsewhere) }
      const { body } = await ask(world, 'POST projects', { headers: owners.home, body: { name: 'neighbor' } })
      victim = await aHouse({
        of: home,
        project: encodeId('project', home.defaultProjectId),
        owner: owners.home,
        mark: MARK,
      })
      neighbor = await aHouse({ of: home, project: body.project.id, owner: owners.home, mark: 'neighbor' })
      stranger = await aHouse({
        of: elsewhere,
        project: encodeId('project', elsewhere.defaultProjectId),
        owner: owners.elsewhere,
        mark: 'stranger',
      })
    },
    { env: { ROLES: 'web' } },
  )
}
