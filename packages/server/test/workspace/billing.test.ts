import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { Stripe } from 'stripe'
import { sql, type Database } from '../../src/platform/db.ts'
import { followPayments } from '../../src/resources/workspace/billing/index.ts'
import { aWebhook, behind, post, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import {
  aPaymentServer,
  aSignedEvent,
  paymentSettings,
  PRICES,
  WEBHOOK_SECRET,
  type PaymentServer,
} from '../stage/payment-server.ts'
import { aKeyOf, aMember, ask, aWorkspace, type Headers, type Member } from '../stage/people.ts'

/** Plan, usage and payments of a workspace (docs/adr/0140). `plain` has no provider; `world` is a node with one, on the same database. */
let plain: World
let world: World
let database: Database
let provider: PaymentServer
let endpoint: string

const DAY_MS = 86_400_000
const env = { ROLES: 'web', LOG_LEVEL: 'silent' }

before(async () => {
  provider = await aPaymentServer()
  plain = await aWorld({ env, loops: [] })
  const { id, public_url } = await aWebhook(plain, {
    verification: { scheme: 'payments_provider', secret: WEBHOOK_SECRET },
  })
  world = await aWorld({ beside: plain, env: { ...env, ...paymentSettings(provider.url, id) } })
  endpoint = public_url
  database = behind(plain)
})
after(async () => {
  await database.close()
  await world.stop()
  await plain.stop()
  await provider.stop()
})

let made = 0

type Home = Member & { readonly headers: Headers; readonly customer: () => Promise<string> }

async function aHome(plan = 'free'): Promise<Home> {
  made += 1
  const owner = await aWorkspace(world, database, `billing-${made}`)
  await database.run(sql`update workspaces set plan = ${plan} where id = ${owner.workspaceId}`)
  return {
    ...owner,
    headers: await signedIn(world, owner),
    customer: async () =>
      (
        await database.one<{ customer_id: string }>(
          sql`select customer_id from billing_accounts where workspace_id = ${owner.workspaceId}`,
        )
      ).customer_id,
  }
}

const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const billingOf = async ({ headers }: Home, at = world): Promise<Answer['body']> => {
  const { status, body } = await ask(at, 'GET billing', { headers })
  assert.equal(status, 200, JSON.stringify(body))
  return body.billing
}
const checkout = ({ headers }: Home, plan = 'team'): Promise<Answer> =>
  ask(world, 'POST billing/checkout', { headers, body: { plan } })
const advance = (ms: number): void => {
  for (const { clock } of [plain, world]) clock.advance(ms)
}
const audited = async ({ workspaceId }: Home, action: string): Promise<readonly object[]> =>
  (
    await database.many<{ details: string }>(
      sql`select details from audit_rows where workspace_id = ${workspaceId} and action = ${action} order by id`,
    )
  ).map(({ details }) => JSON.parse(details))

let events = 0

/** Sends an event to the endpoint as the provider does, and lets the loop follow it. */
async function arrives(type: string, object: object, id = `evt_${(events += 1)}`): Promise<void> {
  const { body, headers } = await aSignedEvent({ id, type, object, now: world.clock.now() })
  assert.equal((await post(endpoint, body, { headers })).status, 201)
  await followPayments(world.app.deps)
}

/** A home whose owner has bought the plan team. */
async function aCustomer(): Promise<{ home: Home; subscription: ReturnType<PaymentServer['buy']> }> {
  const home = await aHome()
  assert.equal(said(await checkout(home)), '200')
  const customer = await home.customer()
  const subscription = provider.buy(customer, { price: PRICES.team, periodEnd: world.clock.now() + 30 * DAY_MS })
  await arrives('checkout.session.completed', { object: 'checkout.session', customer })
  return { home, subscription }
}

describe('usage', () => {
  test('shows the plan, exact counts of the month with the pending invites, and a projection for its end', async () => {
    const home = await aHome()
    const month = '2026-01-01'
    await database.run(
      sql`insert into monthly_usage (workspace_id, month, events, deliveries) values (${home.workspaceId}, ${month}::date, 1450, 290)`,
    )
    const invited = await ask(world, 'POST invites', {
      headers: home.headers,
      body: { email: 'ada@example.com', role: 'viewer' },
    })
    assert.equal(said(invited), '201')
    // Half an hour of a new workspace is not a pace.
    assert.equal((await billingOf(home)).usage.events.projected, null)
    await database.run(sql`update workspaces set created_at = ${new Date('2025-12-01')} where id = ${home.workspaceId}`)
    const { plan, period, usage } = await billingOf(home)
    assert.deepEqual([plan.name, plan.limits.events_per_month, plan.limits.members], ['free', 10_000, 3])
    assert.deepEqual(period, { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' })
    // 14.5 of 31 days have passed.
    assert.deepEqual(usage, {
      events: { used: 1_450, max: 10_000, projected: 3_100 },
      deliveries: { used: 290, max: 50_000, projected: 620 },
      members: { used: 2, pending_invites: 1, max: 3 },
      retained_events: 0,
    })
  })

  test('without a provider, prices and payments are hidden, and checkout and portal answer 404 billing_not_configured', async () => {
    const home = await aHome()
    assert.equal((await billingOf(home, plain)).payments, null)
    for (const path of ['POST billing/checkout', 'POST billing/portal']) {
      const body = path.endsWith('checkout') ? { plan: 'team' } : undefined
      assert.equal(
        said(await ask(plain, path, { headers: home.headers, ...(body && { body }) })),
        '404 billing_not_configured',
      )
    }
  })

  test('only owners in the console read billing: an admin lacks the role, and a key is never permitted', async () => {
    const home = await aHome()
    const admin = await signedIn(
      world,
      await aMember(world, database, { workspaceId: home.workspaceId, role: 'admin' }),
    )
    const { headers: key } = await aKeyOf(world, database, home)
    for (const path of ['GET billing', 'POST billing/portal']) {
      assert.equal(said(await ask(world, path, { headers: admin })), '403 insufficient_role')
      assert.equal(said(await ask(world, path, { headers: key })), '403 agent_not_permitted')
    }
  })
})

describe('a payment', () => {
  test('upgrades the workspace once the provider reports it: plan, state and audit rows', async () => {
    const { home, subscription } = await aCustomer()
    const { plan, payments } = await billingOf(home)
    assert.equal(plan.name, 'team')
    assert.deepEqual(payments.subscription, {
      state: 'active',
      plan: 'team',
      period_end: new Date((subscription.items.data[0]?.current_period_end ?? 0) * 1_000).toISOString(),
      ends_at_period_end: false,
      grace_ends_at: null,
    })
    assert.deepEqual(
      payments.plans.map((one: Answer['body']) => [one.name, one.price]),
      [
        ['team', { amount: 4_900, currency: 'usd', interval: 'month' }],
        ['business', { amount: 24_900, currency: 'usd', interval: 'month' }],
      ],
    )
    assert.deepEqual(await audited(home, 'set_plan'), [{ plan: 'team', previous: 'free' }])
    assert.deepEqual(await audited(home, 'update_subscription'), [
      { state: 'active', previous_state: 'none', plan: 'team', ends_at_period_end: false },
    ])
    assert.deepEqual(await audited(home, 'checkout_plan'), [{ plan: 'team' }])
  })

  test('under an Idempotency-Key no transaction is open while the provider answers, and a repeat asks it no more', async () => {
    const home = await aHome()
    const open: number[] = []
    provider.meanwhile = async () => {
      const { found } = await database.one<{ found: number }>(sql`
        select count(*)::int as found
          from pg_stat_activity
         where datname = current_database() and state = 'idle in transaction'
      `)
      open.push(found)
    }
    for (const [path, body] of [['checkout', { plan: 'team' }] as const, ['portal', undefined] as const]) {
      const key = { ...home.headers, 'idempotency-key': path }
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const first = await ask(world, `POST billing/${path}`, { headers: key, body })
      assert.equal(said(first), '200')
      const asked = provider.asked.length
      // oxlint-disable-next-line no-await-in-loop -- as above
      const repeated = await ask(world, `POST billing/${path}`, { headers: key, body })
      assert.deepEqual([repeated.body, provider.asked.length], [first.body, asked])
    }
    provider.meanwhile = undefined
    assert.deepEqual([...new Set(open)], [0])
  })

  test('leads to pages of the provider: checkout for the price of the plan, and the portal for its customer', async () => {
    const home = await aHome()
    assert.equal(said(await ask(world, 'POST billing/portal', { headers: home.headers })), '409 invalid_state')
    const { body } = await checkout(home)
    const customer = await home.customer()
    assert.equal(body.page_url, `https://pay.example/c/${customer}`)
    const { form } = provider.asked.findLast(({ path }) => path === '/v1/checkout/sessions') ?? assert.fail()
    assert.deepEqual(
      [form.get('mode'), form.get('line_items[0][price]'), form.get('success_url')],
      ['subscription', PRICES.team, `${world.baseUrl}/settings/billing?paid=team`],
    )
    assert.equal(said(await checkout(home)), '200')
    assert.equal(await home.customer(), customer, 'a second page is for the same customer')
    const portal = await ask(world, 'POST billing/portal', { headers: home.headers })
    assert.equal(portal.body.page_url, `https://pay.example/p/${customer}`)
  })

  test('a workspace that has a subscription cannot pay again, so that nobody pays twice', async () => {
    const { home } = await aCustomer()
    const answer = await checkout(home, 'business')
    assert.equal(said(answer), '409 invalid_state')
    assert.match(answer.body.error, /billing\/portal/)
  })

  test('can be made while the workspace is suspended', async () => {
    const home = await aHome()
    await database.run(
      sql`update workspaces set suspended_at = now(), suspended_reason = 'unpaid' where id = ${home.workspaceId}`,
    )
    assert.equal(said(await checkout(home)), '200')
    assert.equal(said(await ask(world, 'POST billing/portal', { headers: home.headers })), '200')
  })

  test('a failed payment leaves the plan for the grace period, shows past_due, and then moves the workspace to free', async () => {
    const { home, subscription } = await aCustomer()
    subscription.status = 'past_due'
    await arrives('invoice.payment_failed', { object: 'invoice', customer: subscription.customer })
    const ends = new Date(world.clock.now() + LIMITS.billingGraceDays * DAY_MS).toISOString()
    const { plan, payments } = await billingOf(home)
    assert.deepEqual(
      [plan.name, payments.subscription.state, payments.subscription.grace_ends_at],
      ['team', 'past_due', ends],
    )
    advance(LIMITS.billingGraceDays * DAY_MS - 1_000)
    await followPayments(world.app.deps)
    assert.equal((await billingOf(await again(home))).plan.name, 'team')
    advance(1_000)
    await followPayments(world.app.deps)
    assert.equal((await billingOf(await again(home))).plan.name, 'free')
    subscription.status = 'active'
    await arrives('invoice.paid', { object: 'invoice', customer: subscription.customer })
    const paid = await billingOf(await again(home))
    assert.deepEqual([paid.plan.name, paid.payments.subscription.grace_ends_at], ['team', null])
  })

  test('a canceled subscription leaves the plan until the period ends, and then moves the workspace to free', async () => {
    const { home, subscription } = await aCustomer()
    subscription.cancel_at_period_end = true
    await arrives('customer.subscription.updated', subscription)
    const { plan, payments } = await billingOf(home)
    assert.deepEqual([plan.name, payments.subscription.ends_at_period_end], ['team', true])
    subscription.status = 'canceled'
    await arrives('customer.subscription.deleted', subscription)
    const ended = await billingOf(home)
    assert.deepEqual([ended.plan.name, ended.payments.subscription.state], ['free', 'canceled'])
    assert.equal(said(await checkout(home)), '200', 'the owner can buy again')
  })
})

describe('events of the provider', () => {
  test('events count only by the present state of the subscription: repeated or late ones change nothing', async () => {
    const { home, subscription } = await aCustomer()
    const old = { ...subscription, status: 'active' }
    subscription.status = 'canceled'
    await arrives('customer.subscription.deleted', subscription, `evt_end_${made}`)
    await arrives('customer.subscription.updated', old)
    const asked = provider.asked.length
    await arrives('customer.subscription.deleted', subscription, `evt_end_${made}`)
    assert.equal(provider.asked.length, asked, 'what was handled is not handled again')
    assert.equal((await billingOf(home)).plan.name, 'free')
    assert.equal((await audited(home, 'update_subscription')).length, 2)
  })

  test('events with a forged signature are refused by ingest, and change nothing', async () => {
    const { home, subscription } = await aCustomer()
    subscription.status = 'canceled'
    const { body, headers } = await aSignedEvent({
      id: 'evt_forged',
      type: 'customer.subscription.deleted',
      object: subscription,
      now: world.clock.now(),
      secret: 'whsec_of_somebody_else',
    })
    assert.equal(said(await post(endpoint, body, { headers })), '401 bad_signature')
    await followPayments(world.app.deps)
    assert.equal((await billingOf(home)).plan.name, 'team')
  })

  test('wait while the provider does not answer, and are handled when it does', async (t) => {
    const { home, subscription } = await aCustomer()
    t.after(() => (provider.broken = false))
    provider.broken = true
    subscription.status = 'canceled'
    await arrives('customer.subscription.deleted', subscription)
    const during = await billingOf(home)
    assert.equal(during.plan.name, 'team')
    assert.equal(said(await ask(world, 'POST billing/portal', { headers: home.headers })), '502 payment_provider_error')
    provider.broken = false
    advance(2_000)
    await followPayments(world.app.deps)
    assert.equal((await billingOf(home)).plan.name, 'free')
  })

  test('events of other customers, and requests that are not events, are ignored', async () => {
    await arrives('customer.subscription.deleted', { object: 'subscription', customer: 'cus_of_another_shop' })
    await arrives('charge.succeeded', { object: 'charge', customer: 'cus_1' })
    const timestamp = Math.floor(world.clock.now() / 1_000)
    const signed = { payload: '{"object":"event"}', secret: WEBHOOK_SECRET, timestamp }
    const header = await Stripe.webhooks.generateTestHeaderStringAsync(signed)
    assert.equal((await post(endpoint, signed.payload, { headers: { 'stripe-signature': header } })).status, 201)
    await followPayments(world.app.deps)
    const open = await database.one<{ count: number }>(
      sql`select count(*)::int as count from billing_events where handled_at is null`,
    )
    assert.equal(open.count, 0)
  })

  test('the effect of lost events is recovered within a day', async () => {
    const { home, subscription } = await aCustomer()
    subscription.items.data = subscription.items.data.map((item) => ({ ...item, price: { id: PRICES.business } }))
    await followPayments(world.app.deps)
    assert.equal((await billingOf(home)).plan.name, 'team')
    advance(DAY_MS + 1)
    await followPayments(world.app.deps)
    assert.equal((await billingOf(await again(home))).plan.name, 'business')
  })
})

test('a plan that an operator set stays when the subscription ends, because it did not pay for it', async () => {
  const { home, subscription } = await aCustomer()
  await database.run(sql`update workspaces set plan = 'business' where id = ${home.workspaceId}`)
  subscription.status = 'canceled'
  await arrives('customer.subscription.deleted', subscription)
  assert.equal((await billingOf(home)).plan.name, 'business')
})

test('the subscription of a closed workspace is not renewed', async () => {
  const { home, subscription } = await aCustomer()
  await database.run(
    sql`update workspaces set closed_at = ${new Date(world.clock.now())} where id = ${home.workspaceId}`,
  )
  await followPayments(world.app.deps)
  assert.equal(subscription.cancel_at_period_end, true)
  assert.equal((await billingOf(home)).payments.subscription.ends_at_period_end, true)
})

test('a subscription that the provider no longer has delays no other', async () => {
  const [closed, other] = [await aCustomer(), await aCustomer()]
  provider.subscriptions = provider.subscriptions.filter((one) => one !== closed.subscription)
  await database.run(
    sql`update workspaces set closed_at = ${new Date(world.clock.now())} where id = ${closed.home.workspaceId}`,
  )
  other.subscription.status = 'canceled'
  advance(DAY_MS + 1)
  await assert.rejects(followPayments(world.app.deps), /No such subscription/)
  assert.equal((await billingOf(await again(other.home))).plan.name, 'free')
  await followPayments(world.app.deps)
})

/** Signs in again, because the session expires when the clock of the test moves far. */
async function again(home: Home): Promise<Home> {
  return { ...home, headers: await signedIn(world, home) }
}

test('upgrade_url leads to an existing page of the console; an unknown settings path gets 404', async () => {
  const url = world.app.deps.upgradeUrl()
  assert.equal(url, `${world.baseUrl}/settings/billing`)
  assert.equal((await fetch(url)).status, 200)
  assert.equal((await fetch(`${world.baseUrl}/settings/nothing`)).status, 404)
})
