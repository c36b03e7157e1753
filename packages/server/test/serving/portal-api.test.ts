import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, LIMITS } from '@postroad/contract'
import { reinstateWorkspace, suspendWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { aName } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { aGuest, aPortal, aPortalSession, inPortal, type Guest } from '../stage/portal-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The portal API: its token, its cookie, and what a customer may do (contract parts 1, 4 and 5). */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const inANewPortal = async (members: object = {}): Promise<Guest> =>
  aGuest(world, { portal: (await aPortal(world, members)).id })
const URL_OF_CUSTOMER = 'https://hooks.example.com/in'

test('POST /portal/api/session trades a token for the cookie of the contract, valid for 8 hours', async () => {
  const guest = await inANewPortal()
  const { status, headers, body } = await inPortal(world, guest, 'POST session')
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'no-store')
  const [cookie = '', ...rest] = headers.getSetCookie()
  assert.deepEqual(rest, [])
  const [pair = '', ...attributes] = cookie.split('; ')
  assert.match(pair, /^__Host-service_portal=\S{40,}$/)
  assert.ok(!pair.includes(guest.token))
  assert.deepEqual(attributes, ['Path=/', 'HttpOnly', 'Secure', 'SameSite=None', 'Partitioned', 'Max-Age=28800'])
  assert.equal(body.expires_at, new Date(world.clock.now() + LIMITS.portalSessionMs).toISOString())
  assert.deepEqual(
    [body.customer.id, body.customer.customer_id, body.portal.id],
    [guest.customer, guest.customerId, guest.portal],
  )
})

test('a session ends when its token expires, if that is sooner, and after 8 hours otherwise', async () => {
  const portal = (await aPortal(world)).id
  const short = await aGuest(world, { portal, expires_in: 600 })
  const { cookie, reads } = await aPortalSession(world, short)
  assert.match(cookie, /Max-Age=600$/)
  assert.equal((await inPortal(world, reads, 'GET me')).status, 200)
  const long = await aPortalSession(world, await aGuest(world, { portal }))
  world.clock.advance(600_000)
  assert.deepEqual((await inPortal(world, reads, 'GET me')).body.reason, 'portal_token_required')
  assert.equal((await inPortal(world, long.reads, 'GET me')).status, 200)
  world.clock.advance(LIMITS.portalSessionMs - 600_000)
  assert.equal((await inPortal(world, long.reads, 'GET me')).status, 401)
})

test('a token is taken from Authorization alone, never from the query or the body', async () => {
  const { token } = await inANewPortal()
  for (const path of [`me?token=${token}`, `destinations?access_token=${token}`]) {
    const { status, body } = await inPortal(world, {}, `GET ${path}`)
    assert.deepEqual([status, body.reason], [401, 'portal_token_required'])
  }
  const inQuery = await inPortal(world, {}, `POST session?token=${token}`)
  const inBody = await inPortal(world, {}, 'POST session', { token })
  assert.deepEqual([inQuery.status, inBody.status], [401, 401])
  assert.deepEqual(inQuery.headers.getSetCookie(), [])
})

test('the API refuses unknown tokens, keys of other APIs, and cookies that this server did not seal', async () => {
  const guest = await inANewPortal()
  const { reads } = await aPortalSession(world, guest)
  const sealed = reads['cookie'] ?? ''
  const flipped = sealed.slice(0, -2) + (sealed.endsWith('A') ? 'BB' : 'AA')
  const callers = [
    {},
    { token: 'hpt_unknown' },
    { token: world.installed.api_key },
    { authorization: `Basic ${guest.token}` },
    { cookie: '__Host-service_portal=x' },
    { cookie: flipped },
    { cookie: sealed.slice(0, 60) },
    { cookie: sealed.replace('__Host-service_portal', 'service_session') },
    // A valid cookie does not replace a wrong token.
    { ...reads, authorization: 'Bearer hpt_unknown' },
  ]
  for (const caller of callers) {
    const { status, body } = await inPortal(world, caller, 'GET me')
    assert.deepEqual([status, body.reason], [401, 'portal_token_required'], JSON.stringify(caller))
  }
})

test('the cookie of a portal opens no console', async () => {
  const { reads } = await aPortalSession(world, await inANewPortal())
  const value = (reads['cookie'] ?? '').split('=')[1]
  const admin = await fetch(`${world.baseUrl}/admin/api/me`, { headers: { cookie: `service_session=${value}` } })
  assert.equal(admin.status, 401)
})

test('a change with the cookie needs X-Requested-With: fetch; a read, and a change with a token, do not', async () => {
  const guest = await inANewPortal()
  const { reads, changes } = await aPortalSession(world, guest)
  const body = { url: URL_OF_CUSTOMER }
  for (const headers of [reads, { ...reads, 'x-requested-with': 'XMLHttpRequest' }]) {
    const refused = await inPortal(world, headers, 'POST destinations', body)
    assert.deepEqual([refused.status, refused.body.reason], [403, 'portal_csrf_header_missing'])
  }
  const made = await inPortal(world, changes, 'POST destinations', body)
  assert.equal(made.status, 201)
  const id = made.body.destination.id
  assert.equal((await inPortal(world, reads, `PUT destinations/${id}`, { enabled: false })).status, 403)
  assert.equal((await inPortal(world, reads, `DELETE destinations/${id}`)).status, 403)
  assert.equal((await inPortal(world, guest, `PUT destinations/${id}`, { enabled: false })).status, 200)
})

test('revoking the token ends its sessions immediately, and leaves those of other tokens', async () => {
  const portal = (await aPortal(world)).id
  const [guest, again] = [
    await aGuest(world, { portal, customerId: 'acme' }),
    await aGuest(world, { portal, customerId: 'acme' }),
  ]
  const [{ reads }, other] = [await aPortalSession(world, guest), await aPortalSession(world, again)]
  assert.equal((await world.admin('DELETE', `portals/${portal}/tokens/${guest.tokenId}`)).status, 200)
  assert.equal((await inPortal(world, reads, 'GET me')).status, 401)
  assert.equal((await inPortal(world, other.reads, 'GET me')).status, 200)
})

test('turning the portal off ends every session for good and every token until it is on again', async () => {
  const guest = await inANewPortal()
  const { reads } = await aPortalSession(world, guest)
  await world.admin('PATCH', `portals/${guest.portal}`, { enabled: false })
  for (const caller of [guest, reads]) {
    const { status, body } = await inPortal(world, caller, 'GET me')
    assert.deepEqual([status, body.reason], [401, 'portal_disabled'])
  }
  assert.equal((await inPortal(world, guest, 'POST session')).status, 401)
  await world.admin('PATCH', `portals/${guest.portal}`, { enabled: true })
  const ended = await inPortal(world, reads, 'GET me')
  assert.deepEqual([ended.status, ended.body.reason], [401, 'portal_token_required'])
  assert.equal((await inPortal(world, guest, 'GET me')).status, 200, 'the token works again')
  const next = await aPortalSession(world, guest)
  assert.equal((await inPortal(world, next.reads, 'GET me')).status, 200)
  await world.admin('PATCH', `portals/${guest.portal}`, { enabled: true, name: 'Still on' })
  assert.equal((await inPortal(world, next.reads, 'GET me')).status, 200, 'another change ends no session')
})

test('DELETE /portal/api/session removes the cookie', async () => {
  const { status, headers } = await inPortal(world, {}, 'DELETE session')
  assert.equal(status, 200)
  assert.match(headers.getSetCookie()[0] ?? '', /^__Host-service_portal=; .*Max-Age=0$/)
})

test('two tabs: a request that names its customer is refused with 409 when the session is another customer’s', async () => {
  const portal = (await aPortal(world)).id
  const [acme, globex] = [await aGuest(world, { portal }), await aGuest(world, { portal })]
  const { reads } = await aPortalSession(world, globex)
  const right = await inPortal(world, { ...reads, 'service-customer': globex.customer }, 'GET me')
  assert.equal(right.status, 200)
  const { status, body } = await inPortal(world, { ...reads, 'service-customer': acme.customer }, 'GET destinations')
  assert.equal(status, 409)
  assert.deepEqual([body.reason, body.customer_id], ['portal_customer_mismatch', globex.customerId])
})

test('GET me describes the portal, the customer and the event types', async () => {
  const guest = await inANewPortal({ event_types: ['orders', 'invoices'], branding: { name: 'Acme Hooks' } })
  const { body } = await inPortal(world, guest, 'GET me')
  assert.equal(body.portal.branding.name, 'Acme Hooks')
  assert.deepEqual(body.customer, {
    id: guest.customer,
    customer_id: guest.customerId,
    name: `The ${guest.customerId}`,
  })
  assert.deepEqual(body.event_types, ['invoices', 'orders'])
  assert.deepEqual([body.suspended, body.destinations_max], [false, LIMITS.destinationsPerCustomerMax])
})

test('event types are the datasets that the portal exposes, with their descriptions', async () => {
  const name = `e${Date.now()}`
  await world.admin('POST', 'datasets', { name, description: 'Orders of the shop' })
  const some = await inANewPortal({ event_types: ['not_yet', name] })
  assert.deepEqual((await inPortal(world, some, 'GET event-types')).body, {
    event_types: [
      { name, description: 'Orders of the shop' },
      { name: 'not_yet', description: null },
    ],
  })
  const all = (await inPortal(world, await inANewPortal(), 'GET event-types')).body.event_types
  assert.ok(all.some((type: { name: string }) => type.name === name))
})

test('a destination shows its signing secret once, and no later response has it', async () => {
  const guest = await inANewPortal()
  const made = await inPortal(world, guest, 'POST destinations', {
    url: URL_OF_CUSTOMER,
    description: 'Our ERP',
    event_types: ['orders'],
  })
  assert.equal(made.status, 201)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const { destination, signing_secret: secret } = made.body
  assert.match(secret, /^whsec_/)
  assert.deepEqual(
    [destination.url, destination.description, destination.event_types, destination.enabled],
    [URL_OF_CUSTOMER, 'Our ERP', ['orders'], true],
  )
  assert.deepEqual(destination.last_24_hours, { succeeded: 0, failed: 0 })
  const later = [
    await inPortal(world, guest, 'GET destinations'),
    await inPortal(world, guest, `GET destinations/${destination.id}`),
    await inPortal(world, guest, `PUT destinations/${destination.id}`, { enabled: false }),
    await world.admin('GET', `destinations/${destination.id}`),
  ]
  assert.ok(later.every(({ status, body }) => status === 200 && !JSON.stringify(body).includes(secret)))
  assert.deepEqual((await inPortal(world, guest, 'GET destinations')).body.destinations[0].id, destination.id)
})

test('the lists of the admin API show who owns a destination, and filter by the owner', async () => {
  const guest = await inANewPortal()
  const { id } = (await inPortal(world, guest, 'POST destinations', { url: URL_OF_CUSTOMER })).body.destination
  const { destination } = (await world.admin('GET', `destinations/${id}`)).body
  assert.deepEqual(destination.customer, {
    id: guest.customer,
    portal_id: guest.portal,
    customer_id: guest.customerId,
    name: `The ${guest.customerId}`,
  })
  const listed = async (query: string): Promise<readonly string[]> =>
    (await world.admin('GET', `destinations?${query}`)).body.destinations.map((one: { id: string }) => one.id)
  assert.deepEqual(await listed(`customer=${guest.customer}`), [id])
  assert.ok((await listed('owner=customers')).includes(id))
  assert.ok(!(await listed('owner=project')).includes(id))
  assert.ok((await listed('limit=200')).includes(id))
})

test('a destination accepts only https URLs of public addresses, whatever OUTBOUND_ALLOW opens for the project', async () => {
  const guest = await inANewPortal()
  const { id } = (await inPortal(world, guest, 'POST destinations', { url: URL_OF_CUSTOMER })).body.destination
  const refused = [
    'http://hooks.example.com/',
    'http://127.0.0.1:9/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'https://2130706433/',
    'https://user:pass@hooks.example.com/',
    'ftp://hooks.example.com/',
    'nonsense',
  ]
  for (const url of refused) {
    const made = await inPortal(world, guest, 'POST destinations', { url })
    assert.deepEqual([made.status, made.body.reason], [400, 'invalid_url'], url)
    const changed = await inPortal(world, guest, `PUT destinations/${id}`, { url })
    assert.deepEqual([changed.status, changed.body.reason], [400, 'invalid_url'], url)
    const byAdmin = await world.admin('PATCH', `destinations/${id}`, { url })
    assert.equal(byAdmin.status, 400, `the project may not point it at ${url} either`)
  }
  assert.equal(
    (await world.admin('POST', 'destinations', { name: aName('own'), url: 'http://127.0.0.1:9/' })).status,
    201,
  )
})

test('a destination subscribes only to event types that the portal exposes, and accepts no setting of the project', async () => {
  const guest = await inANewPortal({ event_types: ['orders'] })
  const post = (members: object) => inPortal(world, guest, 'POST destinations', { url: URL_OF_CUSTOMER, ...members })
  const { status, body } = await post({ event_types: ['secrets'] })
  assert.deepEqual([status, body.reason], [400, 'event_type_not_exposed'])
  for (const members of [{ headers: { a: 'b' } }, { tls: null }, { name: 'x' }, { conditions: [] }, { proxy: null }])
    assert.equal((await post(members)).status, 400, JSON.stringify(members))
  assert.equal((await post({ event_types: ['orders'] })).status, 201)
})

test('a customer has a limited number of destinations', async () => {
  const guest = await inANewPortal()
  const post = () => inPortal(world, guest, 'POST destinations', { url: URL_OF_CUSTOMER })
  for (let n = 0; n < LIMITS.destinationsPerCustomerMax; n += 1) {
    assert.equal((await post()).status, 201)
    if (n % 40 === 39) world.clock.advance(10_000)
  }
  const { status, body } = await post()
  assert.deepEqual([status, body.reason], [409, 'portal_destination_limit_reached'])
  const { destinations } = (await inPortal(world, guest, 'GET destinations')).body
  assert.equal(destinations.length, LIMITS.destinationsPerCustomerMax)
  assert.equal((await inPortal(world, guest, `DELETE destinations/${destinations[0].id}`)).status, 200)
  const atOnce = await Promise.all([post(), post(), post(), post()])
  assert.deepEqual(
    atOnce.map((answer) => answer.status).toSorted((a, b) => a - b),
    [201, 409, 409, 409],
  )
})

test('each customer has its own rate, whatever the number of their tokens is', async () => {
  const portal = (await aPortal(world)).id
  const [first, second] = [
    await aGuest(world, { portal, customerId: 'acme' }),
    await aGuest(world, { portal, customerId: 'acme' }),
  ]
  const other = await aGuest(world, { portal })
  for (let n = 0; n < LIMITS.portalRequestsPer10SecondsMax; n += 1)
    assert.equal((await inPortal(world, n % 2 === 0 ? first : second, 'GET event-types')).status, 200)
  const { status, headers, body } = await inPortal(world, second, 'GET event-types')
  assert.deepEqual([status, body.reason, headers.get('retry-after')], [429, 'rate_limited', '10'])
  assert.equal((await inPortal(world, other, 'GET event-types')).status, 200)
  world.clock.advance(10_000)
  assert.equal((await inPortal(world, first, 'GET event-types')).status, 200)
})

test('while the workspace is suspended, every change is refused with 403 and every read works', async () => {
  const guest = await inANewPortal()
  const { id } = (await inPortal(world, guest, 'POST destinations', { url: URL_OF_CUSTOMER })).body.destination
  const { deps } = world.app
  const { slug } = world.installed.workspace
  await suspendWorkspace(deps, { slug, reason: 'An example' })
  try {
    const changes: readonly [string, unknown?][] = [
      ['POST destinations', { url: URL_OF_CUSTOMER }],
      [`PUT destinations/${id}`, { enabled: false }],
      [`DELETE destinations/${id}`],
      [`POST destinations/${id}/test`],
      [`POST destinations/${id}/rotate-secret`, {}],
      [`POST deliveries/${encodeId('delivery', deps.uuid())}/retry`],
    ]
    for (const [line, sent] of changes) {
      const { status, body } = await inPortal(world, guest, line, sent)
      assert.deepEqual([status, body.reason], [403, 'workspace_suspended'], line)
      assert.ok(!body.error.includes('An example'), 'the reason is for the members of the workspace')
    }
    for (const line of ['GET me', 'GET event-types', 'GET destinations', 'GET deliveries', `GET destinations/${id}`])
      assert.equal((await inPortal(world, guest, line)).status, 200, line)
    assert.equal((await inPortal(world, guest, 'GET me')).body.suspended, true)
    assert.equal((await inPortal(world, guest, 'POST session')).status, 200, 'a read needs a session')
  } finally {
    await reinstateWorkspace(deps, { slug })
  }
  assert.equal((await inPortal(world, guest, `PUT destinations/${id}`, { enabled: false })).status, 200)
})

test('the looks of a portal are public under its id, and contain nothing else of the portal', async () => {
  const portal = await aPortal(world, { branding: { return_url: 'https://app.example.com/' } })
  const { status, body } = await inPortal(world, {}, `GET portals/${portal.id}/branding`)
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body.portal).toSorted(), ['branding', 'id', 'name'])
  assert.equal(body.portal.branding.return_url, 'https://app.example.com/')
  const unknown = encodeId('portal', world.app.deps.uuid())
  for (const id of [unknown, 'nonsense'])
    assert.equal((await inPortal(world, {}, `GET portals/${id}/branding`)).status, 404)
})
