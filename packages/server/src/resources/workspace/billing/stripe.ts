import type { Stripe as Client } from 'stripe'
import { z } from 'zod'
import { isOpen, type Subscription } from '../../../domain/workspace/subscription.ts'
import type { OutboundHttp } from '../../../platform/outbound-http.ts'
import type { Secret } from '../../../platform/secret.ts'
import type { BillingEvent, PaymentProvider, Price } from './port.ts'

type Settings = {
  readonly key: Secret
  readonly prices: Readonly<Record<string, string>>
  readonly url: string
  readonly outbound: OutboundHttp
  readonly now: () => number
}

const TIMEOUT_MS = 10_000
const ANSWER_BYTES_MAX = 64 * 1024
const PRICE_KEPT_MS = 3_600_000
/** The provider returns the newest first. At most this many of one customer are read. */
const SUBSCRIPTIONS_MAX = 5

/** The only file that uses the library of Stripe. Its requests leave like deliveries, through the address guard. */
export async function createStripe({ key, prices, url, outbound, now }: Settings): Promise<PaymentProvider> {
  const { Stripe } = await import('stripe')
  const { protocol, hostname, port } = new URL(url)
  const client = new Stripe(key.reveal(), {
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    protocol: protocol === 'http:' ? 'http' : 'https',
    httpClient: Stripe.createFetchHttpClient(fetchThrough(outbound)),
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
  })
  const readPrice = cached(now, (id: string) => client.prices.retrieve(id).then(priceOf))
  return {
    prices,
    price: readPrice,
    createCustomer: async ({ workspaceId, name }) => {
      const { id } = await client.customers.create(
        { name, metadata: { workspace_id: workspaceId } },
        { idempotencyKey: `postroad-customer-${workspaceId}` },
      )
      return id
    },
    checkout: async ({ customerId, priceId, successUrl, cancelUrl }) => {
      const session = await client.checkout.sessions.create({
        mode: 'subscription',
        customer: customerId,
        line_items: [{ price: priceId, quantity: 1 }],
        success_url: successUrl,
        cancel_url: cancelUrl,
      })
      if (session.url === null) throw new Error('Stripe returned a checkout session without a URL.')
      return session.url
    },
    portal: async ({ customerId, returnUrl }) =>
      (await client.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl })).url,
    findSubscription: async (customerId) => {
      const { data } = await client.subscriptions.list({
        customer: customerId,
        status: 'all',
        limit: SUBSCRIPTIONS_MAX,
      })
      const found = data.map(subscriptionOf)
      return found.find(({ state }) => isOpen(state)) ?? found[0]
    },
    endAtPeriodEnd: async (id) => void (await client.subscriptions.update(id, { cancel_at_period_end: true })),
    readEvent,
  }
}

// An unknown value is an error, and the event is tried again, so an update of the server can handle it.
const State = z.enum(['incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused', 'canceled'])
const Interval = z.enum(['day', 'week', 'month', 'year'])

function subscriptionOf({ id, status, items, ...of }: Client.Subscription): Subscription {
  const [item] = items.data
  return {
    id,
    state: status === 'incomplete_expired' ? 'canceled' : State.parse(status),
    price_id: item?.price.id ?? null,
    period_end: item === undefined ? null : new Date(item.current_period_end * 1_000),
    // The portal sets either of them.
    ends_at_period_end: of.cancel_at_period_end || of.cancel_at !== null,
  }
}

function priceOf({ id, unit_amount: amount, currency, recurring }: Client.Price): Price {
  if (amount === null || recurring === null)
    throw new Error(`The price ${id} must be recurring, with one amount per unit.`)
  return { amount, currency, interval: Interval.parse(recurring.interval) }
}

const Event = z.object({
  object: z.literal('event'),
  id: z.string().min(1).max(255),
  type: z.string().min(1).max(255),
  data: z.object({
    object: z.object({ customer: z.union([z.string(), z.object({ id: z.string() })]).nullish() }),
  }),
})

const CONCERNS_SUBSCRIPTION =
  /^(?:checkout\.session\.completed|customer\.subscription\.\w+|invoice\.(?:paid|payment_failed))$/

/** Only the customer is read from an event. Its state may be old, so the provider is asked for the present one. */
function readEvent(body: string): BillingEvent | undefined {
  const { data: event } = Event.safeParse(jsonOf(body))
  if (event === undefined) return undefined
  const { customer = null } = event.data.object
  const customerId = typeof customer === 'string' ? customer : (customer?.id ?? null)
  return { id: event.id, type: event.type, customerId: CONCERNS_SUBSCRIPTION.test(event.type) ? customerId : null }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const SET_BY_TRANSPORT = new Set(['content-length', 'host', 'connection'])

/** The `fetch` of the library. A failure is an exception, as with `fetch`, and the library tries again. */
function fetchThrough({ request }: OutboundHttp): typeof fetch {
  return async (input, init = {}) => {
    const headers = Object.fromEntries([...new Headers(init.headers)].filter(([name]) => !SET_BY_TRANSPORT.has(name)))
    const result = await request({
      url: input instanceof Request ? input.url : input.toString(),
      method: init.method === 'POST' ? 'POST' : init.method === 'DELETE' ? 'DELETE' : 'GET',
      headers,
      body: typeof init.body === 'string' ? init.body : '',
      timeoutMs: TIMEOUT_MS,
      keptBytesMax: ANSWER_BYTES_MAX,
      lane: 'payments',
      ...(init.signal === undefined || init.signal === null ? {} : { signal: init.signal }),
    })
    if (result.kind === 'failure') throw new TypeError(`The payment provider could not be reached: ${result.detail}`)
    if (result.truncated) throw new TypeError('The response from the payment provider is too long.')
    return new Response(result.body, { status: result.status, headers: result.headers })
  }
}

function cached<T>(now: () => number, read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const known = new Map<string, { readonly value: T; readonly until: number }>()
  return async (id) => {
    const found = known.get(id)
    if (found !== undefined && found.until > now()) return found.value
    const value = await read(id)
    known.set(id, { value, until: now() + PRICE_KEPT_MS })
    return value
  }
}
