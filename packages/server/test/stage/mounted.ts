import assert from 'node:assert/strict'
import { decodeId, encodeId, ID_PREFIXES, type IdKind } from '@postroad/contract'
import type { z } from 'zod'
import { mountedRoutes, type Mounted } from '../../src/surfaces/admin/mount.ts'
import { ALL, call, database, world, type Heard, type Named } from './admin-asking.ts'
import { aGrantedAgent } from './agents-granted.ts'
import { MARK, neighbor, ofHouse, stranger, victim, type House } from './houses.ts'
import { aKeyOf, aMember, type Headers } from './people.ts'
import { sharedExample } from './route-examples.ts'

/** The URLs of every route, the ids that each one takes, and requests with the ids of other tenants in these places. */

export const nameOf = ({ room, verb, url }: Mounted): string => `${room}.${verb} ${url}`
const EVERY = mountedRoutes()
const BY_ROUTE = Map.groupBy(EVERY, ({ room, verb }) => `${room}.${verb}`)

/** Every URL of a route: under its project, under the root, and at its previous path. */
export const urlsOf = ({ name }: Named): readonly Mounted[] => BY_ROUTE.get(name) ?? assert.fail(`${name} has no URL`)
const namedOf = ({ room, verb }: Mounted): Named =>
  ALL.find(({ name }) => name === `${room}.${verb}`) ?? assert.fail(`${room}.${verb} is no route`)

// The ids that the contract declares

const KINDS = Object.keys(ID_PREFIXES) as IdKind[]

/** Ids that the contract takes as plain text. */
const PLAIN: Readonly<Record<string, IdKind>> = {
  'records.listOfWebhook view': 'recordView',
  'search.correlate id': 'submission',
}

type Place = 'params' | 'query' | 'body'

/** The members of a place of a route that are ids, with their kind: the schema accepts only an id of that kind. */
export function idsIn({ route, name }: Named, place: Place): readonly (readonly [name: string, kind: IdKind])[] {
  return Object.entries(shapeOf(route[place])).flatMap(([member, schema]) => {
    const kind =
      PLAIN[`${name} ${member}`] ??
      (takes(schema, 'nonsense') ? undefined : KINDS.find((one) => takes(schema, randomId(one))))
    return kind === undefined ? [] : [[member, kind] as const]
  })
}

export const shapeOf = (schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> =>
  schema !== undefined && 'shape' in schema ? (schema.shape as Record<string, z.ZodType>) : {}
const takes = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success
export const randomId = (kind: IdKind): string => encodeId(kind, world.app.deps.uuid())
export const isLookedUp = ({ route }: Pick<Named, 'route'>): boolean => route.path.includes('{')

const idsFor = (named: Named, place: Place, idOf: (kind: IdKind) => string): Record<string, string> =>
  Object.fromEntries(idsIn(named, place).map(([name, kind]) => [name, idOf(kind)]))
export const paramsOf = (named: Named, idOf: (kind: IdKind) => string): Record<string, string> =>
  idsFor(named, 'params', idOf)

// Requests

export type Sent = {
  readonly project: string
  readonly params: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
}

export function send(mounted: Mounted, headers: Headers, { project, params, query = {}, body }: Sent): Promise<Heard> {
  const path = mounted.url
    .replace('/admin/api/', '')
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'project_id' ? project : (params[name] ?? '1')))
  const sent = mounted.route.body === undefined || body === undefined ? {} : { body }
  return call({ headers }, `${mounted.route.method} ${path}`, { query, ...sent })
}

/** The body of the example, with ids of this house. So the ids under test are all that can be wrong. */
async function bodyIn(named: Named, house: House): Promise<object> {
  const { body } = await sharedExample(named)
  const own = Object.entries(idsFor(named, 'body', ofHouse(house))).filter(([name]) => name in (body ?? {}))
  return { ...body, ...Object.fromEntries(own) }
}

/** Unknown ids; a body only where the route needs one before it looks the ids up. */
export async function sendBare(mounted: Mounted, headers: Headers, project: string): Promise<Heard> {
  const named = namedOf(mounted)
  const body = isLookedUp(named) ? (await sharedExample(named)).body : { frobnicate: 1 }
  return send(mounted, headers, { project, params: paramsOf(named, randomId), ...(body === undefined ? {} : { body }) })
}

/** Requires the same answer to the ids of another tenant and to unknown ids, and no data of the victim in it. */
export async function assertSame(
  mounted: Mounted,
  { headers, house }: Asker,
  { theirs, random, struck }: { theirs: Sent; random: Sent; struck: readonly string[] },
): Promise<number> {
  const whole = await bodyIn(namedOf(mounted), house)
  const said = async (sent: Sent) => {
    const { status, text } = await send(mounted, headers, { ...sent, body: { ...whole, ...sent.body } })
    return { status, text: struck.reduce((all, id) => all.replaceAll(id, '•'), text) }
  }
  const [first, second] = [await said(theirs), await said(random)]
  assert.deepEqual(first, second, nameOf(mounted))
  assert.ok(!first.text.includes(MARK), `${nameOf(mounted)} shows data of the victim: ${first.text}`)
  return first.status
}

// The callers

export type Asker = {
  readonly who: string
  readonly house: House
  readonly headers: Headers
  readonly inWorkspace: boolean
}

/**
 * Callers with every right in their own workspace, in the console, by keys and as agents; the data that they may not see
 * is the data of the victim.
 */
export async function askersOfHouses(): Promise<readonly Asker[]> {
  const strange = await aMember(world, database, { workspaceId: stranger.workspaceId, role: 'owner' })
  const near = await aMember(world, database, { workspaceId: victim.workspaceId, role: 'owner' })
  const outside = { who: 'another workspace', house: stranger, inWorkspace: false }
  const beside = { who: 'another project', house: neighbor, inWorkspace: true }
  const one = { ...near, projectId: decodeId('project', neighbor.project) ?? '' }
  return [
    { ...outside, headers: stranger.owner },
    { ...outside, headers: (await aKeyOf(world, database, strange)).headers },
    { ...outside, headers: (await aGrantedAgent(world, database, { ...strange, scope: 'service:manage' })).headers },
    { ...beside, headers: neighbor.owner },
    { ...beside, headers: (await aKeyOf(world, database, near)).headers },
    { ...beside, headers: (await aGrantedAgent(world, database, { ...near, scope: 'service:manage' })).headers },
    { ...beside, headers: (await aKeyOf(world, database, one)).headers },
  ]
}

/**
 * Within the same workspace, the routes of the workspace itself are not foreign; nor is the alias, which is the
 * victim's own project.
 */
export const isForeignTo = ({ route, url }: Mounted, { inWorkspace }: Asker): boolean =>
  !inWorkspace || (route.area === 'project' && url.includes('{project_id}'))
export const mayAsk = ({ route }: Named, { headers }: Asker): boolean =>
  (route.callers === 'all' && route.role !== 'owner') || 'cookie' in headers
