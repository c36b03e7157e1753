import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId, ID_PREFIXES, ROLES, type IdKind, type Role } from '@postroad/contract'
import type { z } from 'zod'
import { encodeCursor } from '../../src/domain/serving/cursor.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { mountedRoutes, type Mounted } from '../../src/surfaces/admin/mount.ts'
import { post, signedIn } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import {
  aKeyOf,
  aReadyExport,
  aMember,
  ask,
  aWorkspace,
  theWorkspace,
  type Headers,
  type Member,
} from '../stage/people.ts'
import { sse } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * The isolation matrix, made from the contract: every mounted route, asked by everybody, with the ids of others wherever
 * an id may stand. What is expected follows from the flags of the route; a route that is new is in it by itself.
 */
let world: World
let database: Database

/** A project with one of everything in it. `ids` by kind, as the path, query or body takes them. */
type House = {
  readonly workspaceId: string
  readonly project: string
  readonly owner: Headers
  readonly ids: Readonly<Partial<Record<IdKind, string>>>
}

let victim: House
/** In another workspace, and in another project of the same one. */
let stranger: House
let neighbour: House

const MARK = 'v1ct1m'

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    const home = await theWorkspace(database)
    const elsewhere = await aWorkspace(world, database, 'stranger')
    const owners = { home: await signedIn(world, home), elsewhere: await signedIn(world, elsewhere) }
    const { body } = await ask(world, 'POST projects', { headers: owners.home, body: { name: 'neighbour' } })
    victim = await aHouse({
      of: home,
      project: encodeId('project', home.defaultProjectId),
      owner: owners.home,
      mark: MARK,
    })
    neighbour = await aHouse({ of: home, project: body.project.id, owner: owners.home, mark: 'neighbour' })
    stranger = await aHouse({
      of: elsewhere,
      project: encodeId('project', elsewhere.defaultProjectId),
      owner: owners.elsewhere,
      mark: 'stranger',
    })
  },
  { env: { ROLES: 'web' } },
)

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
  const submission = (await post(`${world.baseUrl}/v1/ingest/${key}/${mark}`, JSON.stringify({ mark }))).body
  const [delivery] = (await ask(world, `GET projects/${project}/deliveries`, { headers: owner })).body.deliveries
  // Nothing is sent here, so the state is set behind the server's back.
  await database.run(
    sql`update deliveries set state = 'failed', next_attempt_at = null where id = ${decodeId('delivery', delivery.id) ?? ''}`,
  )
  const { replay } = (
    await ask(world, `POST projects/${project}/deliveries/replays`, { headers: owner, body: { filter: {} } })
  ).body
  const { id: apiKey } = await aKeyOf(world, database, of)
  const { invite } = (
    await ask(world, 'POST invites', { headers: owner, body: { email: `${mark}@example.com`, role: 'viewer' } })
  ).body
  const ids = {
    dataExport: await aReadyExport(world, database, of),
    replay: replay.id,
    invite: invite.id,
    webhook: webhook.id,
    recordView: view.id,
    rule: rule.id,
    destination: destination.id,
    ingestKey: ingest_key.id,
    dataset: dataset.id,
    submission: submission.id,
    record: submission.records[0].id,
    delivery: delivery.id,
    apiKey,
    project,
    user: encodeId('user', of.userId),
    workspace: encodeId('workspace', of.workspaceId),
  }
  return { workspaceId: of.workspaceId, project, owner, ids }
}

// What the contract says of its ids

const MOUNTED = mountedRoutes()
const nameOf = ({ room, verb, url }: Mounted): string => `${room}.${verb} ${url}`
const KINDS = Object.keys(ID_PREFIXES) as IdKind[]

/** Ids that the contract takes as plain text. */
const PLAIN: Readonly<Record<string, IdKind>> = {
  'records.listOfWebhook view': 'recordView',
  'search.correlate id': 'submission',
}

type Place = 'params' | 'query' | 'body'

/** The members of a place of a route that hold an id, with its kind: told by what the schema lets in. */
function idsIn({ route, room, verb }: Mounted, place: Place): readonly (readonly [name: string, kind: IdKind])[] {
  return Object.entries(shapeOf(route[place])).flatMap(([name, schema]) => {
    const kind =
      PLAIN[`${room}.${verb} ${name}`] ??
      (takes(schema, 'nonsense') ? undefined : KINDS.find((one) => takes(schema, randomId(one))))
    return kind === undefined ? [] : [[name, kind] as const]
  })
}

const shapeOf = (schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> =>
  schema !== undefined && 'shape' in schema ? (schema.shape as Record<string, z.ZodType>) : {}
const takes = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success
const randomId = (kind: IdKind): string => encodeId(kind, world.app.deps.uuid())

/** The bodies that a route needs before it looks for anything. */
const BODIES: Readonly<Record<string, object>> = {
  'apiKeys.create': { name: 'x', role: 'viewer' },
  'members.update': { role: 'viewer' },
  'datasets.update': { description: 'x' },
  'projects.update': { name: 'x' },
  'recordViews.create': { name: 'x', columns: [{ key: 'x' }] },
  'rules.test': { conditions: [] },
  'destinations.recover': { since: '2026-01-01T00:00:00Z', dry_run: true },
  'webhooks.test': { payloads: [{}] },
  'webhooks.verifySample': { headers: {}, body: '{}' },
}

type Asked = {
  readonly project: string
  readonly params: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

async function send(mounted: Mounted, headers: Headers, { project, params, query = {}, body = {} }: Asked) {
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

const paramsOf = (mounted: Mounted, idOf: (kind: IdKind) => string): Record<string, string> =>
  Object.fromEntries(idsIn(mounted, 'params').map(([name, kind]) => [name, idOf(kind)]))
const ofHouse =
  (house: House) =>
  (kind: IdKind): string =>
    house.ids[kind] ?? assert.fail(`A house has no ${kind}: make one in aHouse.`)

test('every id that a route takes is known to this test', () => {
  for (const mounted of MOUNTED) {
    const places = ['params', 'query', 'body'] as const
    const named = places.flatMap((place) =>
      Object.keys(shapeOf(mounted.route[place])).filter((name) => /(^|_)ids?$|^view$/.test(name)),
    )
    const known = places.flatMap((place) => idsIn(mounted, place).map(([name]) => name))
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
      `${nameOf(mounted)} takes an id of no known kind; add it to PLAIN`,
    )
    const inPath = [...mounted.route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    assert.deepEqual(
      inPath.filter((name) => name !== 'version' && !known.includes(name)),
      [],
      nameOf(mounted),
    )
  }
})

// Who asks

type Caller = {
  readonly headers: Headers
  /** What is refused to this caller on every route. */
  readonly refused?: { readonly status: number; readonly reason: string }
  readonly role?: Role
  readonly isKey?: true
  /** A cookie as a foreign page would have it sent: without the header that only our own pages can send. */
  readonly isForeignPage?: true
  readonly onlyProject?: string
}

/** Everybody of the victim's workspace, and who is nobody there. */
async function everybody(): Promise<Readonly<Record<string, Caller>>> {
  const { workspaceId } = victim
  const member = (role: Role): Promise<Member> => aMember(world, database, { workspaceId, role })
  const people = await Promise.all(
    ROLES.map(async (role) => [`a ${role}`, { headers: await signedIn(world, await member(role)), role }] as const),
  )
  const keys = await Promise.all(
    (['viewer', 'developer', 'admin'] as const).map(
      async (role) =>
        [
          `a ${role} key`,
          { headers: (await aKeyOf(world, database, { ...(await member('owner')), role })).headers, role, isKey: true },
        ] as const,
    ),
  )
  const owner = await member('owner')
  const gone = await member('owner')
  const key = async (of: object): Promise<Headers> => (await aKeyOf(world, database, { ...owner, ...of })).headers
  const removed = await aKeyOf(world, database, gone)
  await database.run(sql`delete from members where user_id = ${gone.userId}`)
  return {
    ...Object.fromEntries(people),
    ...Object.fromEntries(keys),
    'a key of a demoted creator': {
      headers: (await aKeyOf(world, database, { ...(await member('viewer')), role: 'admin' })).headers,
      role: 'viewer',
      isKey: true,
    },
    'a key for one project': {
      headers: await key({ projectId: decodeId('project', neighbour.project) }),
      role: 'admin',
      isKey: true,
      onlyProject: neighbour.project,
    },
    'a cookie without X-Requested-With': {
      headers: { cookie: (await signedIn(world, owner))['cookie'] ?? '' },
      role: 'owner',
      isForeignPage: true,
    },
    nobody: { headers: {}, refused: { status: 401, reason: 'unauthorized' } },
    'an unknown key': {
      headers: { authorization: 'Bearer hk_unknown' },
      refused: { status: 401, reason: 'unauthorized' },
    },
    'an expired key': {
      headers: await key({ expiresAt: new Date(world.clock.now()) }),
      refused: { status: 401, reason: 'api_key_expired' },
    },
    'a revoked key': {
      headers: await key({ revokedAt: new Date(world.clock.now()) }),
      refused: { status: 401, reason: 'api_key_revoked' },
    },
    'a key whose creator was removed': { headers: removed.headers, refused: { status: 401, reason: 'unauthorized' } },
  }
}

/** What the flags say; undefined: let in. */
function expected(
  { route, url }: Mounted,
  { refused, role = 'viewer', isKey, isForeignPage, onlyProject }: Caller,
  project: string,
): { status: number; reason: string } | undefined {
  if (refused !== undefined) return refused
  if (isForeignPage === true && route.method !== 'GET') return { status: 403, reason: 'csrf_header_missing' }
  const inside =
    route.area === 'project'
      ? url.includes('{project_id}') && project === onlyProject
      : route.forOneProjectKeys === true
  if (onlyProject !== undefined && !inside) return { status: 403, reason: 'project_out_of_scope' }
  if (route.callers === 'people' && isKey === true) return { status: 403, reason: 'agent_not_permitted' }
  if (ROLES.indexOf(role) < ROLES.indexOf(route.role)) return { status: 403, reason: 'insufficient_role' }
  return undefined
}

const isLookedUp = ({ route }: Mounted): boolean => route.path.includes('{')

test('every route × everybody: let in, or refused with the reason that the flags of the route give', async () => {
  const asked = new Set<string>()
  const outcomes = new Set<string>()
  const all = Object.entries(await everybody()).flatMap(([who, caller]) =>
    MOUNTED.flatMap((mounted) => projectsFor(mounted, caller).map((project) => ({ who, caller, mounted, project }))),
  )
  await inParallel(all, async ({ who, caller, mounted, project }) => {
    const wanted = expected(mounted, caller, project)
    const said = `${who}: ${nameOf(mounted)}`
    // Without what makes its body whole, so that nothing comes of it.
    const { status, reason } = await sendBare(mounted, caller.headers, project)
    asked.add(nameOf(mounted))
    outcomes.add(wanted?.reason ?? 'let in')
    if (wanted !== undefined) assert.deepEqual({ status, reason }, wanted, said)
    else if (project === stranger.project || isLookedUp(mounted))
      assert.deepEqual([status, reason], [404, 'not_found'], said)
    // An export needs no more than to be asked for, once.
    else
      assert.ok(
        [200, 400, ...(mounted.room === 'dataExport' ? [201, 409] : [])].includes(status),
        `${said}: ${status} ${reason}`,
      )
  })
  assert.deepEqual([...asked].toSorted(), MOUNTED.map(nameOf).toSorted(), '100 % of the routes')
  assert.deepEqual([...outcomes].toSorted(), [
    'agent_not_permitted',
    'api_key_expired',
    'api_key_revoked',
    'csrf_header_missing',
    'insufficient_role',
    'let in',
    'project_out_of_scope',
    'unauthorized',
  ])
})

/** Which project it is counts for who is let in, and for a key for one of them. */
function projectsFor({ url }: Mounted, { role, onlyProject }: Caller): readonly string[] {
  if (!url.includes('{project_id}')) return [victim.project]
  if (onlyProject !== undefined) return [victim.project, neighbour.project, stranger.project]
  return role === 'owner' ? [victim.project, stranger.project] : [victim.project]
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, next))
}

/** Ids that are nowhere; a body only where one is needed to come as far as to look for them. */
function sendBare(mounted: Mounted, headers: Headers, project: string) {
  const whole = isLookedUp(mounted) ? mounted : { ...mounted, verb: '-' }
  return send(whole, headers, {
    project,
    params: paramsOf(mounted, randomId),
    ...(isLookedUp(mounted) ? {} : { body: { frobnicate: 1 } }),
  })
}

// With the ids of others

/** Both answers with the ids that were sent struck out. */
async function assertSame(
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
    `${nameOf(mounted)} shows what is the victim's: ${first?.text}`,
  )
  return first.status
}

type Askers = {
  readonly who: string
  readonly house: House
  readonly headers: readonly Headers[]
  readonly inWorkspace: boolean
}

/** With every right in their own house, in the console and by keys; and what they may not see is the victim's. */
async function askers(): Promise<readonly Askers[]> {
  const strange = await aMember(world, database, { workspaceId: stranger.workspaceId, role: 'owner' })
  const near = await aMember(world, database, { workspaceId: victim.workspaceId, role: 'owner' })
  const keys = [
    await aKeyOf(world, database, near),
    await aKeyOf(world, database, { ...near, projectId: decodeId('project', neighbour.project) ?? '' }),
  ]
  return [
    {
      who: 'another workspace',
      house: stranger,
      headers: [stranger.owner, (await aKeyOf(world, database, strange)).headers],
      inWorkspace: false,
    },
    {
      who: 'another project',
      house: neighbour,
      headers: [neighbour.owner, ...keys.map(({ headers }) => headers)],
      inWorkspace: true,
    },
  ]
}

/** Of the same workspace its own routes are no foreign ones; nor is the alias, which is the victim's own project. */
const isForeignTo = ({ route, url }: Mounted, { inWorkspace }: Askers): boolean =>
  !inWorkspace || (route.area === 'project' && url.includes('{project_id}'))
const mayAsk = (mounted: Mounted, headers: Headers): boolean => mounted.route.callers === 'all' || 'cookie' in headers

/** A digest of all rows of the victim's, told by the column that makes them so. */
async function victimsRows(): Promise<readonly object[]> {
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
async function cases(which: (mounted: Mounted) => boolean): Promise<readonly Case[]> {
  return (await askers()).flatMap((asker) =>
    MOUNTED.filter((mounted) => which(mounted) && isForeignTo(mounted, asker)).flatMap((mounted) =>
      asker.headers.filter((headers) => mayAsk(mounted, headers)).map((headers) => ({ asker, mounted, headers })),
    ),
  )
}

test('an id of another workspace or project in the path answers as one that is nowhere: 404, and nothing is changed', async () => {
  const had = await victimsRows()
  const asked = new Set<string>()
  await inParallel(await cases(isLookedUp), async ({ asker: { who, house }, mounted, headers }) => {
    const names = idsIn(mounted, 'params')
    const { project } = house
    // Each id alone is the victim's, then all of them.
    for (const which of [...(names.length > 1 ? names.map(([name]) => [name]) : []), names.map(([name]) => name)]) {
      const params = (others: (kind: IdKind) => string) =>
        Object.fromEntries(names.map(([name, kind]) => [name, (which.includes(name) ? others : ofHouse(house))(kind)]))
      const [theirs, random] = [params(ofHouse(victim)), params(randomId)]
      const struck = [...Object.values(theirs), ...Object.values(random)]
      assert.equal(
        await assertSame(mounted, headers, {
          theirs: { project, params: theirs },
          random: { project, params: random },
          struck,
        }),
        404,
        `${who}: ${nameOf(mounted)}`,
      )
    }
    asked.add(nameOf(mounted))
  })
  assert.deepEqual(
    MOUNTED.filter((one) => isLookedUp(one) && !asked.has(nameOf(one))).map(nameOf),
    [],
    '100 % of the routes with an id',
  )
  assert.deepEqual(await victimsRows(), had)
})

test('the project of another workspace in the path answers as one that is nowhere, whatever stands behind it', async () => {
  const had = await victimsRows()
  await inParallel(
    MOUNTED.filter(({ url }) => url.includes('{project_id}')),
    async (mounted) => {
      const project = randomId('project')
      const theirs = { project: victim.project, params: paramsOf(mounted, ofHouse(victim)) }
      const random = { project, params: paramsOf(mounted, randomId) }
      const struck = [victim.project, project, ...Object.values(theirs.params), ...Object.values(random.params)]
      assert.equal(await assertSame(mounted, stranger.owner, { theirs, random, struck }), 404, nameOf(mounted))
    },
  )
  assert.deepEqual(await victimsRows(), had)
})

test('an id of others in the query or the body answers as one that is nowhere', async () => {
  const asked = new Set<string>()
  await inParallel(await cases(() => true), async ({ asker: { house }, mounted, headers }) => {
    const at = { project: house.project, params: paramsOf(mounted, ofHouse(house)) }
    const places = (['query', 'body'] as const).flatMap((place) =>
      idsIn(mounted, place).map(([name, kind]) => ({ place, name, kind })),
    )
    for (const { place, name, kind } of places) {
      const [theirs, random] = [ofHouse(victim)(kind), randomId(kind)]
      await assertSame(mounted, headers, {
        theirs: { ...at, [place]: { [name]: theirs } },
        random: { ...at, [place]: { [name]: random } },
        struck: [theirs, random],
      })
      asked.add(`${mounted.room}.${mounted.verb} ${name}`)
    }
  })
  for (const one of [
    'apiKeys.create project_id',
    'deliveries.list destination_id',
    'records.listOfWebhook view',
    'rules.test rule_id',
  ])
    assert.ok(asked.has(one), one)
})

test('a cursor made of an id of others pages through what is one’s own', async () => {
  const lists = (
    await cases(
      ({ route, url }) =>
        'cursor' in shapeOf(route.query) && (route.area === 'workspace' || url.includes('{project_id}')),
    )
  ).filter(({ asker, headers }) => headers === asker.house.owner)
  assert.ok(lists.length > 10)
  const uuids = Object.entries(victim.ids).map(([kind, id]) => decodeId(kind as IdKind, id) ?? '')
  await inParallel(lists, async ({ asker: { house }, mounted, headers }) => {
    const at = { project: house.project, params: paramsOf(mounted, ofHouse(house)) }
    for (const uuid of uuids) {
      // Its neighbour in the order of ids, which is nobody's.
      const beside = `${uuid.slice(0, -1)}${uuid.endsWith('0') ? '1' : '0'}`
      const paged = (one: string): Asked => ({ ...at, query: { cursor: encodeCursor(one) } })
      await assertSame(mounted, headers, { theirs: paged(uuid), random: paged(beside), struck: [] })
    }
  })
})

test('nothing that is read shows anything of others', async () => {
  // The members and keys of a workspace are those of all its projects.
  const shared = ['user', 'workspace', 'project', 'apiKey', 'invite']
  await inParallel(
    await cases(({ route }) => route.method === 'GET'),
    async ({ asker: { who, house, inWorkspace }, mounted, headers }) => {
      const { text } = await send(mounted, headers, {
        project: house.project,
        params: paramsOf(mounted, ofHouse(house)),
      })
      const shown = Object.entries(victim.ids).filter(
        ([kind, id]) => text.includes(id) && !(inWorkspace && shared.includes(kind)),
      )
      assert.deepEqual([shown, text.includes(MARK)], [[], false], `${who}: ${nameOf(mounted)}`)
    },
  )
})

test('the live stream of a foreign project is not there either', async () => {
  for (const project of [victim.project, randomId('project'), 'nonsense']) {
    const answer = await ask(world, `GET projects/${project}/stream`, { headers: stranger.owner })
    assert.deepEqual([answer.status, answer.body.reason], [404, 'not_found'])
  }
})

test('a cursor of the live stream of others leads through what is one’s own', async () => {
  const keyOf = async ({ project, owner }: House): Promise<string> =>
    (
      await ask(world, `POST projects/${project}/ingest-keys`, {
        headers: owner,
        body: { name: world.app.deps.uuid() },
      })
    ).body.key
  const file = (key: string, mark: string) => post(`${world.baseUrl}/v1/ingest/${key}/streamed`, JSON.stringify(mark))
  const key = await keyOf(victim)
  const watched = await sse(`${world.baseUrl}/v1/stream?key=${key}`)
  const start = String(watched.headers['stream-cursor'])
  // At the same moment, so that there is a cursor in the middle of a read.
  await Promise.all([file(key, MARK), file(key, MARK)])
  await watched.until(2)
  watched.close()
  for (const house of [neighbour, stranger]) {
    const own = await keyOf(house)
    await file(own, 'one')
    for (const cursor of [start, ...watched.events.map(({ id }) => id ?? '')]) {
      for (const [path, headers] of [
        [`v1/stream?key=${own}&`, {}],
        [`admin/api/projects/${house.project}/stream?`, house.owner],
      ] as const) {
        const client = await sse(`${world.baseUrl}/${path}after=${cursor}&dataset=streamed`, {
          headers: { ...headers },
        })
        await client.until(1)
        client.close()
        assert.deepEqual(
          [client.events.map(({ type, data }) => [type, data.data]), client.text().includes(MARK)],
          [[['record', 'one']], false],
        )
      }
    }
  }
})
