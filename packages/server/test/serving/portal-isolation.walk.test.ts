import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeId, encodeId, ID_PREFIXES, portalRoutes, type IdKind, type PortalRoute } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aName, behind, signedIn } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aWorkspace, ask } from '../stage/people.ts'
import {
  aCustomersWebhook,
  aGuest,
  aPortal,
  aPortalSession,
  aPortalStage,
  deliveriesOf,
  inPortal,
  type Guest,
  type PortalStage,
} from '../stage/portal-stage.ts'

/** Every route of the portal API, asked by every other customer, portal, project and workspace, with the ids of a victim. */
const MARK = 'v1ct1m'
let stage: PortalStage
let world: World
let database: Database
let victim: Guest
let ids: Readonly<Partial<Record<IdKind, string>>>
/** Customers with their own destination, by the boundary between them and the victim. */
const strangers = new Map<string, Guest>()

before(async () => {
  stage = await aPortalStage()
  ;({ world } = stage)
  database = behind(world)
  const portal = await aPortal(world, { name: MARK, branding: { name: MARK } })
  victim = await aGuest(world, { portal: portal.id, customerId: MARK })
  ids = await resourcesOf(victim)
  const twin = await aPortal(world)
  strangers.set('another customer of the same portal', await aGuest(world, { portal: portal.id }))
  strangers.set(
    'a customer of the same name in another portal',
    await aGuest(world, { portal: twin.id, customerId: MARK }),
  )
  strangers.set('a customer in another project', await inAnotherProject())
  strangers.set('a customer in another workspace', await inAnotherWorkspace())
  for (const guest of strangers.values())
    assert.equal((await inPortal(world, guest, 'POST destinations', { url: 'https://own.example.com/' })).status, 201)
})
after(async () => {
  await database.close()
  await stage.stop()
})

/** A destination, a delivery and an attempt of the victim. */
async function resourcesOf(guest: Guest): Promise<Partial<Record<IdKind, string>>> {
  const url = `${stage.receiver.url}${MARK}`
  const { destination } = (await inPortal(world, guest, 'POST destinations', { url, description: MARK })).body
  await (
    await aCustomersWebhook(world, `d_${MARK}`)
  )(guest.customerId)
  const [delivery] = await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
  const { attempts } = (await inPortal(world, guest, `GET deliveries/${delivery.id}`)).body
  return { destination: destination.id, delivery: delivery.id, attempt: attempts[0].id, record: delivery.event_id }
}

type Call = (line: string, body?: object) => Promise<Answer>

async function aGuestBy(call: Call): Promise<Guest> {
  const { portal } = (await call('POST portals', { name: aName('portal'), serves: 'many_customers' })).body
  const { portal_token: made, ...shown } = (await call(`POST portals/${portal.id}/tokens`, { customer_id: MARK })).body
  return {
    portal: portal.id,
    customer: made.customer.id,
    customerId: MARK,
    tokenId: made.id,
    token: shown.token,
    url: shown.url,
  }
}

async function inAnotherProject(): Promise<Guest> {
  const { project } = (await world.admin('POST', 'projects', { name: aName('project') })).body
  return aGuestBy((line, body) => {
    const [method = '', path = ''] = line.split(' ')
    return world.admin(method, `projects/${project.id}/${path}`, body)
  })
}

async function inAnotherWorkspace(): Promise<Guest> {
  const owner = await aWorkspace(world, database, 'elsewhere')
  const headers = await signedIn(world, owner)
  return aGuestBy((line, body) => ask(world, line, { headers, ...(body === undefined ? {} : { body }) }))
}

const ROUTES = Object.entries<PortalRoute>(portalRoutes).map(([name, route]) => ({ name, route }))
const KINDS = Object.keys(ID_PREFIXES) as IdKind[]
const randomId = (kind: IdKind): string => encodeId(kind, world.app.deps.uuid())

/** The members of a schema that are ids, with their kind. */
function idsIn(schema: PortalRoute['params']): readonly (readonly [name: string, kind: IdKind])[] {
  return Object.entries(schema?.shape ?? {}).flatMap(([name, member]) => {
    const takes = (value: string): boolean => 'safeParse' in member && member.safeParse(value).success
    const kind = takes('nonsense') ? undefined : KINDS.find((one) => takes(randomId(one)))
    return kind === undefined ? [] : [[name, kind] as const]
  })
}

const BODIES: Readonly<Record<string, object>> = {
  createDestination: { url: 'https://other.example.com/' },
  updateDestination: { description: 'changed' },
  rotateSecret: {},
}

type Asked = { readonly route: PortalRoute; readonly name: string; readonly idOf: (kind: IdKind) => string }

function send(who: Parameters<typeof inPortal>[1], { route, name, idOf }: Asked): Promise<Answer> {
  const params = Object.fromEntries(idsIn(route.params))
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, member: string) => idOf(params[member] ?? 'destination'))
  const query = new URLSearchParams(
    Object.fromEntries(idsIn(route.query).map(([member, kind]) => [member, idOf(kind)])),
  ).toString()
  const line = `${route.method} ${path}${query === '' ? '' : `?${query}`}`
  return inPortal(world, who, line, route.method === 'GET' ? undefined : BODIES[name])
}

const uuidOf = (kind: IdKind): string => decodeId(kind, ids[kind] ?? '') ?? ''

/** A digest of all data of the victim. */
async function victimsRows(): Promise<readonly object[]> {
  return database.many(sql`
    select md5(row_to_json(d)::text) as row from destinations d where id = ${uuidOf('destination')}
    union all
    select md5(row_to_json(d)::text) from deliveries d where id = ${uuidOf('delivery')}
    union all
    select md5(row_to_json(a)::text) from delivery_attempts a where id = ${uuidOf('attempt')}
    union all
    select md5((to_jsonb(c) - 'updated_at')::text) from portal_customers c where id = ${decodeId('customer', victim.customer) ?? ''}`)
}

describe('no customer sees or changes anything of another one', () => {
  for (const { name, route } of ROUTES.filter((one) => one.route.caller === 'customer')) {
    test(`${route.method} /portal/api/${route.path}`, async () => {
      const untouched = await victimsRows()
      const namesIds = idsIn(route.params).length + idsIn(route.query).length > 0
      for (const [what, guest] of strangers) {
        world.clock.advance(10_000)
        const { reads, changes } = await aPortalSession(world, guest)
        for (const who of [guest, route.method === 'GET' ? reads : changes]) {
          const theirs = await send(who, { route, name, idOf: (kind) => ids[kind] ?? randomId(kind) })
          const text = JSON.stringify(theirs.body)
          // The event types of a portal are the datasets of its project, and `me` is about the customer who asks.
          const seen = what.includes('portal') ? text.replaceAll(`d_${MARK}`, '') : text
          if (name !== 'me') assert.ok(!seen.includes(MARK), `${what} sees ${text}`)
          for (const id of Object.values(ids)) assert.ok(!text.includes(id), `${what} sees ${id}`)
          if (!namesIds) continue
          const random = await send(who, { route, name, idOf: randomId })
          assert.deepEqual([theirs.status, theirs.body], [random.status, random.body], what)
          if (route.params !== undefined) assert.equal(theirs.status, 404, what)
        }
      }
      assert.deepEqual(await victimsRows(), untouched)
    })
  }
})

test('me shows each customer their own portal and themselves', async () => {
  for (const guest of strangers.values()) {
    const { portal, customer } = (await inPortal(world, guest, 'GET me')).body
    assert.deepEqual([portal.id, customer.id], [guest.portal, guest.customer])
  }
})

test('a cursor of the victim shows another customer nothing of the victim', async () => {
  await (
    await aCustomersWebhook(world, `d_${MARK}`)
  )(victim.customerId)
  await deliveriesOf(world, victim, { count: 2, status: ['delivered'] })
  const { next_cursor: cursor } = (await inPortal(world, victim, 'GET deliveries?limit=1')).body
  assert.notEqual(cursor, null)
  for (const guest of strangers.values())
    assert.deepEqual((await inPortal(world, guest, `GET deliveries?cursor=${cursor}`)).body.deliveries, [])
})

test('a customer sees nothing of the destinations of the project', async () => {
  const own = await world.admin('POST', 'destinations', { name: aName('own'), url: `http://127.0.0.1:9/${MARK}` })
  const idOf = (kind: IdKind): string => (kind === 'destination' ? own.body.destination.id : randomId(kind))
  for (const { name, route } of ROUTES.filter((one) =>
    idsIn(one.route.params).some(([, kind]) => kind === 'destination'),
  ))
    assert.equal((await send(victim, { route, name, idOf })).status, 404, name)
  const { destinations } = (await inPortal(world, victim, 'GET destinations')).body
  assert.deepEqual(
    destinations.map(({ id }: { id: string }) => id),
    [ids.destination],
  )
})

test('neither an admin API key nor an unknown token opens a route of the portal', async () => {
  for (const { name, route } of ROUTES.filter((one) => one.route.caller !== 'nobody'))
    for (const who of [{ token: world.installed.api_key }, { token: 'hpt_unknown' }, {}])
      assert.equal((await send(who, { route, name, idOf: (kind) => ids[kind] ?? randomId(kind) })).status, 401, name)
})
