import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { encodeId, routes, SECRET_PREFIXES, SERVICE_VERSION, type Role, type Route } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { randomText } from '../../src/platform/ids.ts'
import { insertApiKey } from '../../src/resources/people/api-keys/queries.ts'
import { insertCredential } from '../../src/resources/capture/credentials/queries.ts'
import { insertProject } from '../../src/resources/workspace/projects/index.ts'
import { insertWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { exchange, type Exchanged } from './exchange.ts'
import { aName, behind, signedIn } from './fixtures.ts'
import { aSink, aWorld, type Answer, type Sink, type World } from './harness.ts'
import { aPaymentServer, paymentSettings, type PaymentServer } from './payment-server.ts'
import { openapi, operationsOf, reasonsIn, type OpenApi } from './openapi-document.ts'

/**
 * The shared stage of the admin API tests: two workspaces on one server, whose operator is the owner of the first, and
 * requests for every route of the contract in them.
 */
export let world: World
export let database: Database
export let sink: Sink
export let home: Place
export let foreign: Place
let payments: PaymentServer

const OPERATOR = 'operator@example.com'

/** A file calls this before its tests, and `leavePlaces` after them. */
export const enterPlaces = (): Promise<void> => enterPlacesWith({})

/** The same at this time. */
export const enterPlacesAt = (at: number): Promise<void> => enterPlacesWith({}, at)

/** The same on a server with these settings. */
export async function enterPlacesWith(env: Readonly<Record<string, string>>, at?: number): Promise<void> {
  payments = await aPaymentServer()
  const paid = paymentSettings(payments.url, encodeId('webhook', randomUUID()))
  world = await aWorld({ env: { OPERATORS: OPERATOR, ...paid, ...env }, ...(at === undefined ? {} : { now: at }) })
  database = behind(world)
  sink = await aSink()
  const key = world.installed.api_key
  const found = await database.one<{ workspace_id: string; id: string }>(
    sql`select workspace_id, id from projects where is_default`,
  )
  home = { key, workspaceId: found.workspace_id, projectId: found.id, project: world.installed.project.id }
  await database.run(sql`
    update users
       set email = ${OPERATOR}
     where id = (select user_id from members where workspace_id = ${home.workspaceId} and role = 'owner')
  `)
  foreign = await aForeignPlace()
}

export async function leavePlaces(): Promise<void> {
  await database.close()
  await world.stop()
  await sink.stop()
  await payments.stop()
}

// Places and keys, created directly in the database where no route creates them yet

export type Place = {
  readonly key: string
  readonly workspaceId: string
  readonly projectId: string
  readonly project: string
}

const now = (): Date => new Date(world.clock.now())

async function aForeignPlace(): Promise<Place> {
  const { uuid } = world.app.deps
  const [workspaceId, projectId] = [uuid(), uuid()]
  await insertWorkspace(database, { id: workspaceId, slug: 'foreign', name: 'Foreign', now: now() })
  await insertProject(database, {
    workspaceId,
    id: projectId,
    slug: 'default',
    name: 'Default',
    isDefault: true,
    now: now(),
  })
  const place = { workspaceId, projectId, project: encodeId('project', projectId) }
  return { ...place, key: await aKey({ workspaceId }, { role: 'admin' }) }
}

type KeyOptions = { role: Exclude<Role, 'owner'>; of?: Role; projectId?: string; expiresAt?: Date }

/** An admin API key of a separate member whose role is `of` (owner when absent). */
export async function aKey(
  at: { workspaceId: string },
  { role, of = 'owner', projectId, expiresAt }: KeyOptions,
): Promise<string> {
  const { uuid } = world.app.deps
  const [userId, id, key] = [uuid(), uuid(), SECRET_PREFIXES.apiKey + randomText(43)]
  await database.run(sql`insert into users (id, name, created_at) values (${userId}, 'Somebody', ${now()})`)
  await database.run(
    sql`insert into members (workspace_id, user_id, role, created_at) values (${at.workspaceId}, ${userId}, ${of}, ${now()})`,
  )
  const bounds = { project_id: projectId ?? null, expires_at: expiresAt ?? null, ip_allowlist: [] }
  await insertApiKey(database, {
    ...at,
    id,
    name: 'test',
    shown_prefix: key.slice(0, 11),
    role,
    ...bounds,
    created_by: userId,
    now: now(),
  })
  await insertCredential(database, {
    ...at,
    hash: hashCredential(key),
    kind: 'api_key',
    projectId: null,
    subjectId: id,
  })
  return key
}

// The contract as a list

export type Named = { readonly name: string; readonly route: Route }
export const ALL: readonly Named[] = Object.entries(routes).flatMap(([room, verbs]) =>
  Object.entries<Route>(verbs).map(([verb, route]) => ({ name: `${room}.${verb}`, route })),
)
export const LISTS = ALL.filter(
  ({ name, route }) => name.endsWith('.list') && !route.path.includes('{') && route.query !== undefined,
)

/**
 * `by`: a separate person, where a member of the place would be gone afterwards; `target`: the value that the audit row
 * names.
 */
export type Asked = {
  readonly by?: Credential
  readonly actor?: string
  readonly target?: string
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: object
}

export const created = async (at: Place, path: string, body: object): Promise<Answer['body']> => {
  const answer = await call(at, `POST ${path}`, { body: { name: aName('made'), ...body } })
  assert.equal(answer.status, 201, `POST ${path}: ${answer.text}`)
  return answer.body
}

// Asking

type Sent = {
  readonly query?: Record<string, string>
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly raw?: string
}
export type Heard = Answer & { readonly text: string }

/**
 * A request with the key of a place: `POST datasets` is POST /admin/api/datasets. `raw` is a body that is sent
 * unchanged.
 */
export async function call(by: Credential | undefined, line: string, sent: Sent = {}): Promise<Heard> {
  const [method = 'GET', path = ''] = line.split(' ')
  const search = new URLSearchParams(sent.query).toString()
  const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
  const answer = await exchange(`${world.baseUrl}/admin/api/${path}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: {
      ...(by === undefined ? {} : 'key' in by ? { authorization: `Bearer ${by.key}` } : by.headers),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...sent.headers,
    },
    body,
  })
  said.push(answer.text)
  const heard = { ...answer, body: bodyIn(answer) }
  if (heard.status >= 400) await assertDocumented(method, `/admin/api/${path}`, heard)
  return heard
}

type Documented = { readonly document: OpenApi; readonly byShape: ReadonlyMap<string, readonly Operated[]> }
type Operated = ReturnType<typeof operationsOf>[number] & { readonly parts: readonly string[] }
let documented: Promise<Documented> | undefined

/** The operations of the admin API by method and by number of parts, because every refusal asks for one. */
async function readDocument(): Promise<Documented> {
  const document = await openapi(world.baseUrl)
  const all = operationsOf(document)
    .filter(({ path }) => path.startsWith('/admin/api/'))
    .map((one) => ({ ...one, parts: one.path.split('/') }))
  return { document, byShape: Map.groupBy(all, ({ method, parts }) => `${method} ${parts.length}`) }
}

/** Every refusal of a route is in /openapi.json, with its status and its reason. */
// oxlint-disable-next-line max-params -- the request, its place, and the answer
async function assertDocumented(method: string, path: string, { status, body }: Heard): Promise<void> {
  documented ??= readDocument()
  const { document, byShape } = await documented
  const asked = path.split('?')[0]?.split('/') ?? []
  const found = (byShape.get(`${method.toLowerCase()} ${asked.length}`) ?? []).filter(({ parts }) =>
    parts.every((part, index) => part.startsWith('{') || part === asked[index]),
  )
  // An id can look like the last word of another path.
  const [operation] = found.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)
  if (operation === undefined || status >= 500) return
  const { operationId } = operation.operation
  assert.ok(
    reasonsIn(document, operation.operation, status).includes(body?.reason),
    `${operationId} answered ${status} ${body?.reason}, which the about file of its room in packages/contract/src/routes does not have.`,
  )
}

/** The JSON of an answer, or the text of a file. */
function bodyIn({ headers, text }: Exchanged): Answer['body'] {
  const type = headers.get('content-type')
  // A file can be empty.
  if (text === '') return type === null ? undefined : text
  return type?.startsWith('application/json') === true ? JSON.parse(text) : text
}

export type Credential = Pick<Place, 'key'> | { readonly headers: Readonly<Record<string, string>> }

/** The owners of the places, who call the API as pages of the console do. */
const owners = new Map<string, Promise<Record<string, string>>>()

export async function ownerOf({ workspaceId }: Pick<Place, 'workspaceId'>): Promise<Credential> {
  const found = owners.get(workspaceId)
  if (found !== undefined) return { headers: await found }
  const { user_id: userId } = await database.one<{ user_id: string }>(
    sql`select user_id from members where workspace_id = ${workspaceId} and role = 'owner' order by created_at limit 1`,
  )
  const signing = signedIn(world, { workspaceId, userId }, database)
  owners.set(workspaceId, signing)
  return { headers: await signing }
}

/** The key of a place, or its owner where no key may call the route. Operators' routes are called by the operator, in every place. */
export const whoCalls = async ({ route }: Named, at: Place): Promise<Credential> =>
  route.operator === true ? ownerOf(home) : route.callers === 'people' || route.role === 'owner' ? ownerOf(at) : at
export const personally = async (at: Place, line: string, body?: object): Promise<Heard> =>
  call(await ownerOf(at), line, body === undefined ? {} : { body })

/** The text of every answer in this file. */
export const said: string[] = []

export function pathOf({ route }: Named, asked: Asked, project?: string): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => asked.params?.[name] ?? name)
  return project === undefined || route.area === 'workspace' ? path : `projects/${project}/${path}`
}

export const ask = async (named: Named, at: Place, options: { asked: Asked; project?: string }): Promise<Heard> =>
  askBy(options.asked.by ?? (await whoCalls(named, at)), named, options)

export const askBy = (by: Credential, named: Named, options: { asked: Asked; project?: string }): Promise<Heard> =>
  call(by, `${named.route.method} ${pathOf(named, options.asked, options.project)}`, {
    ...(options.asked.query === undefined ? {} : { query: options.asked.query }),
    ...(options.asked.body === undefined ? {} : { body: options.asked.body }),
  })

export function assertRefused(answer: Heard, status: number, reason: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.reason, reason, answer.text)
  assert.match(answer.body.error, /^\S.*[.…]$/)
  assertHeaded(answer)
}

export function assertHeaded(answer: Heard, type = 'application/json'): void {
  assert.match(answer.headers.get('request-id') ?? '', /^req_[0-9a-z]+$/)
  assert.equal(answer.headers.get('service-version'), SERVICE_VERSION)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(answer.headers.get('content-type')?.startsWith(type), true, type)
}

// Lists and audit rows

export function itemsOf({ body }: Heard): { readonly id: string }[] {
  const { next_cursor: _cursor, ...rest } = body
  const [items] = Object.values(rest)
  return items as { id: string }[]
}

export type AuditRow = {
  id: string
  workspace_id: string
  actor: string
  agent: string | null
  action: string
  target: string | null
  ip: string | null
  details: string
  row: string
}

export const auditRows = (): Promise<readonly AuditRow[]> =>
  database.many<AuditRow>(sql`
    select id, workspace_id, actor, agent, action, target, ip, details, t::text as row from audit_rows t order by id
  `)

/** The last audit row, of any workspace. The ids of one server rise. */
export const lastAuditRow = async (): Promise<string> =>
  (await database.maybe<{ id: string }>(sql`select id from audit_rows order by id desc limit 1`))?.id ??
  '00000000-0000-0000-0000-000000000000'

export const auditRowsAfter = async (id: string): Promise<readonly AuditRow[]> => [
  ...(await database.many<AuditRow>(sql`
    select id, workspace_id, actor, agent, action, target, ip, details, t::text as row
      from audit_rows t
     where id > ${id}
     order by id
  `)),
]
