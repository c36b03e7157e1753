import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, LIMITS } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { aName, behind, statement } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { aGuest, aPortal, inPortal } from '../stage/portal-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Portals, their customers and their tokens in the admin API (contract parts 2 and 4). */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

test('a portal has the members of the contract: event_types and branding as text, enabled as a number', async () => {
  const branding = { name: 'Acme', accent: '#0a7d5a', logo: 'https://cdn.example.com/l.svg' }
  const { status, body } = await world.admin('POST', 'portals', {
    name: 'Webhooks of Acme',
    event_types: ['orders', 'invoices'],
    branding,
  })
  assert.equal(status, 201)
  const { portal } = body
  assert.match(portal.id, /^prt_/)
  assert.equal(portal.slug, 'webhooks-of-acme')
  assert.deepEqual(JSON.parse(portal.event_types), ['orders', 'invoices'])
  assert.equal(JSON.parse(portal.branding).accent, '#0a7d5a')
  assert.equal(portal.enabled, 1)
  assert.deepEqual([portal.datasets, portal.looks.name, portal.looks.mode], [['orders', 'invoices'], 'Acme', 'auto'])
  assert.equal(portal.url, `${world.baseUrl}/portal/${portal.id}`)
  const { body: read } = await world.admin('GET', `projects/${world.installed.project.id}/portals/${portal.id}`)
  assert.deepEqual(read, { portal })
})

test('a portal accepts the text that it shows, and a boolean or a number for enabled', async () => {
  const { id, event_types, branding } = await aPortal(world, { event_types: ['a'], branding: { radius: 3 } })
  const copied = await aPortal(world, { event_types, branding, enabled: 0 })
  assert.deepEqual([copied.datasets, copied.looks.radius, copied.enabled], [['a'], 3, 0])
  const { portal } = (await world.admin('PATCH', `portals/${id}`, { enabled: false, event_types: null })).body
  assert.deepEqual([portal.enabled, portal.event_types], [0, 'null'])
  assert.equal((await aPortal(world, { event_types: 'orders, invoices' })).datasets.length, 2)
})

test('a portal refuses settings that its page could not use, and names the member', async () => {
  const refused: readonly [object, RegExp][] = [
    [{ branding: { accent: 'red' } }, /branding\.accent/],
    [{ branding: { logo: 'http://cdn.example.com/l.svg' } }, /branding\.logo/],
    [{ branding: { logo: 'data:text/html;base64,PGI+' } }, /branding\.logo/],
    [{ branding: { return_url: 'javascript:alert(1)' } }, /branding\.return_url/],
    [{ branding: { shadow: 1 } }, /shadow/],
    [{ branding: 'no json' }, /branding/],
    [{ frame_origins: ['https://a.example/path'] }, /frame_origins/],
    [{ frame_origins: ["https://a.example; script-src 'unsafe-inline'"] }, /frame_origins/],
    [{ frame_origins: ['*'] }, /frame_origins/],
    [{ frame_origins: ['http://a.example'] }, /frame_origins/],
    ...['com', 'co.uk', 'github.io', 'vercel.app', 'internal', 'com:8443'].map((suffix): [object, RegExp] => [
      { frame_origins: ['https://app.example.com', `https://*.${suffix}`] },
      /^frame_origins: anyone can register a name below/,
    ]),
    [{ event_types: ['not a name'] }, /event_types/],
    [{ event_types: [] }, /event_types/],
  ]
  for (const [members, named] of refused) {
    const { status, body } = await world.admin('POST', 'portals', { name: aName('portal'), ...members })
    assert.equal(status, 400, JSON.stringify(members))
    assert.match(body.error, named)
  }
  const frame_origins = ['https://*.example.com', 'https://*.shop.co.uk:8443', 'https://*.me.github.io']
  const { id } = await aPortal(world, { frame_origins })
  const changed = await world.admin('PATCH', `portals/${id}`, { frame_origins: ['https://*.net'] })
  assert.deepEqual([changed.status, changed.body.reason], [400, 'invalid_request'])
})

test('a slug is unique in its project, and finds its portal', async () => {
  const { id, slug } = await aPortal(world)
  const taken = await world.admin('POST', 'portals', { name: 'Another', slug })
  assert.deepEqual([taken.status, taken.body.reason], [409, 'slug_taken'])
  const other = await aPortal(world)
  assert.equal((await world.admin('PATCH', `portals/${other.id}`, { slug })).body.reason, 'slug_taken')
  const { portals } = (await world.admin('GET', `portals?slug=${slug}`)).body
  assert.deepEqual(
    portals.map((portal: { id: string }) => portal.id),
    [id],
  )
})

test('a portal serves the first customer that it gets, and refuses a token for another one with 409 that names the first', async () => {
  const { portal } = (await world.admin('POST', 'portals', { name: aName('portal') })).body
  assert.equal(portal.serves, 'one_customer')
  await aGuest(world, { portal: portal.id, customerId: 'acme' })
  await aGuest(world, { portal: portal.id, customerId: 'acme' })
  for (const path of ['tokens', 'customers']) {
    const { status, body } = await world.admin('POST', `portals/${portal.id}/${path}`, { customer_id: 'globex' })
    assert.equal(status, 409)
    assert.deepEqual(
      [body.reason, body.customer_id, body.customer_name],
      ['portal_customer_mismatch', 'acme', 'The acme'],
    )
  }
  const [customer] = (await world.admin('GET', `portals/${portal.id}/customers`)).body.customers
  assert.deepEqual([customer.customer_id, customer.token_count], ['acme', 2])
  await world.admin('DELETE', `portals/${portal.id}/customers/${customer.id}`)
  await aGuest(world, { portal: portal.id, customerId: 'globex' })
})

test('a portal for many customers gives each of them tokens, and cannot become one for one customer', async () => {
  const { id } = await aPortal(world)
  await aGuest(world, { portal: id, customerId: 'acme' })
  await aGuest(world, { portal: id, customerId: 'globex' })
  const { status, body } = await world.admin('PATCH', `portals/${id}`, { serves: 'one_customer' })
  assert.deepEqual([status, body.reason], [409, 'invalid_state'])
})

test('a token is shown once, in a response that may not be stored, and the database has only its hash', async () => {
  const { id } = await aPortal(world)
  const { status, headers, body } = await world.admin('POST', `portals/${id}/tokens`, { customer_id: 'acme' })
  assert.equal(status, 201)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.match(body.token, /^hpt_[A-Za-z0-9]{43}$/)
  assert.equal(body.url, `${world.baseUrl}/portal/${id}#t=${body.token}`)
  assert.equal(body.portal_token.shown_prefix, body.token.slice(0, 12))
  const { portal_tokens: listed } = (await world.admin('GET', `portals/${id}/tokens`)).body
  assert.deepEqual(listed, [body.portal_token])
  const tables = await behind(world).many(sql`
    select row_to_json(t)::text as text from portal_tokens t
    union all
    select row_to_json(a)::text from audit_rows a`)
  assert.ok(!JSON.stringify(tables).includes(body.token.slice(12)))
  const again = () => world.admin('POST', `portals/${id}/tokens`, { customer_id: 'acme' }, { 'idempotency-key': 'k' })
  const [first, repeated] = [await again(), await again()]
  assert.deepEqual([first.status, repeated.body.token], [201, first.body.token], 'a repeat is the first answer')
})

test('a token works until it expires or is revoked, and the admin API does not accept it', async () => {
  const { id } = await aPortal(world)
  const guest = await aGuest(world, { portal: id, expires_in: 600 })
  assert.equal((await inPortal(world, guest, 'GET me')).status, 200)
  world.clock.advance(600_000)
  assert.equal((await inPortal(world, guest, 'GET me')).body.reason, 'portal_token_expired')
  const other = await aGuest(world, { portal: id })
  const admin = await fetch(`${world.baseUrl}/admin/api/me`, { headers: { authorization: `Bearer ${other.token}` } })
  assert.equal(admin.status, 401)
  assert.equal((await world.admin('DELETE', `portals/${id}/tokens/${other.tokenId}`)).status, 200)
  assert.equal((await inPortal(world, other, 'GET me')).body.reason, 'portal_token_required')
})

test('a new token replaces the expired tokens of its customer, and the number of the others is limited', async () => {
  const { id } = await aPortal(world)
  const old = await aGuest(world, { portal: id, customerId: 'acme', expires_in: 60 })
  world.clock.advance(60_000)
  await aGuest(world, { portal: id, customerId: 'acme' })
  const { portal_tokens: tokens } = (await world.admin('GET', `portals/${id}/tokens?customer=${old.customer}`)).body
  assert.equal(tokens.length, 1)
  await statement(
    behind(world),
    `insert into portal_tokens (workspace_id, project_id, id, portal_id, portal_customer_id, shown_prefix, expires_at, created_at)
     select workspace_id, project_id, gen_random_uuid(), portal_id, portal_customer_id, 'hpt_', 'infinity', created_at
       from portal_tokens, generate_series(1, ${LIMITS.tokensPerCustomerMax - 1})
      where id = '${decodeId('portalToken', tokens[0].id)}'`,
  )
  const { status, body } = await world.admin('POST', `portals/${id}/tokens`, { customer_id: 'acme' })
  assert.deepEqual([status, body.reason], [409, 'portal_token_limit_reached'])
})

test('a customer has one id in a portal, which a change can replace', async () => {
  const { id } = await aPortal(world)
  const { customer } = (await world.admin('POST', `portals/${id}/customers`, { customer_id: 'acme' })).body
  assert.match(customer.id, /^cus_/)
  const again = await world.admin('POST', `portals/${id}/customers`, { customer_id: 'acme' })
  assert.deepEqual([again.status, again.body.reason], [409, 'customer_id_taken'])
  const path = `portals/${id}/customers/${customer.id}`
  const changed = (await world.admin('PATCH', path, { customer_id: 'acme-2', name: 'Acme' })).body.customer
  assert.deepEqual([changed.customer_id, changed.name], ['acme-2', 'Acme'])
  const { customers } = (await world.admin('GET', `portals/${id}/customers?customer_id=acme-2`)).body
  assert.equal(customers[0].id, customer.id)
  await world.admin('POST', `portals/${id}/customers`, { customer_id: 'globex' })
  assert.equal((await world.admin('PATCH', path, { customer_id: 'globex' })).body.reason, 'customer_id_taken')
})

test('deleting a portal deletes its customers with their tokens and destinations, and the audit log has each change', async () => {
  const { id } = await aPortal(world)
  const guest = await aGuest(world, { portal: id })
  const made = await inPortal(world, guest, 'POST destinations', { url: 'https://hooks.example.com/' })
  const destination = made.body.destination.id
  assert.equal((await world.admin('DELETE', `portals/${id}`)).status, 200)
  assert.equal((await inPortal(world, guest, 'GET me')).status, 401)
  assert.equal((await world.admin('GET', `destinations/${destination}`)).status, 404)
  const left = await behind(world).many(sql`
    select id from portal_customers where portal_id = ${decodeId('portal', id) ?? ''}
    union all
    select id from portal_tokens where portal_id = ${decodeId('portal', id) ?? ''}
    union all
    select subject_id from credentials where subject_id = ${decodeId('portalToken', guest.tokenId) ?? ''}`)
  assert.equal(left.length, 0)
  const { audit } = (await world.admin('GET', 'audit')).body
  assert.deepEqual(
    audit.slice(0, 6).map(({ action, actor }: { action: string; actor: string }) => [action, actor.slice(0, 3)]),
    [
      ['delete_portal', 'usr'],
      ['delete_destination', 'usr'],
      ['create_destination', 'cus'],
      ['create_portal_token', 'usr'],
      ['create_portal_customer', 'usr'],
      ['create_portal', 'usr'],
    ],
  )
})
