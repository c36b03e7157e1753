import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Stripe } from 'stripe'

/** A local server that speaks the API of Stripe as far as Postroad uses it, with the events that it would send. */

export const PAYMENT_KEY = 'sk_test_postroad'
export const WEBHOOK_SECRET = 'whsec_test_secret_of_the_endpoint'
export const PRICES = { team: 'price_team', business: 'price_business' } as const

type Subscription = {
  readonly id: string
  readonly object: 'subscription'
  readonly customer: string
  status: string
  cancel_at: number | null
  cancel_at_period_end: boolean
  items: { data: { id: string; price: { id: string }; current_period_end: number }[] }
}

export type Asked = { readonly method: string; readonly path: string; readonly form: URLSearchParams }

export type PaymentServer = {
  readonly url: string
  readonly asked: Asked[]
  /** Whether the server answers 500 to every request. */
  broken: boolean
  /** Runs before each answer. */
  meanwhile: (() => Promise<void>) | undefined
  /** Buys a plan, as the customer does on the page of the provider. */
  buy(customer: string, of: { price: string; periodEnd: number }): Subscription
  subscriptions: Subscription[]
  stop(): Promise<void>
}

const AMOUNTS: Readonly<Record<string, number>> = { price_team: 4_900, price_business: 24_900 }

export async function aPaymentServer(): Promise<PaymentServer> {
  const customers = new Map<string, string>()
  const one = {
    asked: [] as Asked[],
    broken: false,
    meanwhile: undefined as (() => Promise<void>) | undefined,
    subscriptions: [] as Subscription[],
    buy: (customer: string, { price, periodEnd }: { price: string; periodEnd: number }): Subscription => {
      const id = `sub_${one.subscriptions.length + 1}`
      const item = { id: `si_${id}`, price: { id: price }, current_period_end: Math.floor(periodEnd / 1_000) }
      const made: Subscription = {
        id,
        object: 'subscription',
        customer,
        status: 'active',
        cancel_at: null,
        cancel_at_period_end: false,
        items: { data: [item] },
      }
      // The newest first, as the provider lists them.
      one.subscriptions.unshift(made)
      return made
    },
  }

  // oxlint-disable-next-line eslint/complexity -- one case for each route of the provider
  function answer(asked: Asked, request: IncomingMessage): [status: number, body: object] {
    if (request.headers.authorization !== `Bearer ${PAYMENT_KEY}`) return refused(401, 'Invalid API Key provided')
    if (one.broken) return refused(500, 'An error of the provider')
    const [, , resource = '', id = ''] = asked.path.split('?')[0]?.split('/') ?? []
    switch (`${asked.method} ${resource}`) {
      case 'POST customers': {
        const key = String(request.headers['idempotency-key'])
        const customer = customers.get(key) ?? `cus_${customers.size + 1}`
        customers.set(key, customer)
        return [200, { id: customer, object: 'customer' }]
      }
      case 'POST checkout':
        return [
          200,
          { id: 'cs_1', object: 'checkout.session', url: `https://pay.example/c/${asked.form.get('customer')}` },
        ]
      case 'POST billing_portal':
        return [
          200,
          { id: 'bps_1', object: 'billing_portal.session', url: `https://pay.example/p/${asked.form.get('customer')}` },
        ]
      case 'GET prices':
        return [
          200,
          { id, object: 'price', unit_amount: AMOUNTS[id], currency: 'usd', recurring: { interval: 'month' } },
        ]
      case 'GET subscriptions': {
        const customer = new URLSearchParams(asked.path.split('?')[1]).get('customer')
        return [
          200,
          { object: 'list', has_more: false, data: one.subscriptions.filter((of) => of.customer === customer) },
        ]
      }
      case 'POST subscriptions': {
        const found = one.subscriptions.find((of) => of.id === id)
        if (found === undefined) return refused(404, 'No such subscription')
        found.cancel_at_period_end = asked.form.get('cancel_at_period_end') === 'true'
        return [200, found]
      }
      default:
        return refused(404, 'Unrecognized request URL')
    }
  }

  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      await one.meanwhile?.()
      const asked = { method: request.method ?? '', path: request.url ?? '', form: new URLSearchParams(body) }
      one.asked.push(asked)
      const [status, json] = answer(asked, request)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(one, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

function refused(status: number, message: string): [number, object] {
  return [status, { error: { type: status === 401 ? 'invalid_request_error' : 'api_error', message } }]
}

/** An event as the provider sends it: its bytes, and the header that the library of Stripe signs them with. */
export async function aSignedEvent(of: {
  readonly id: string
  readonly type: string
  readonly object: object
  readonly now: number
  readonly secret?: string
}): Promise<{ readonly body: string; readonly headers: Record<string, string> }> {
  const { id, type, object, now, secret = WEBHOOK_SECRET } = of
  const timestamp = Math.floor(now / 1_000)
  const body = JSON.stringify({ id, object: 'event', type, created: timestamp, data: { object } })
  const header = await Stripe.webhooks.generateTestHeaderStringAsync({ payload: body, secret, timestamp })
  return { body, headers: { 'stripe-signature': header } }
}

/** The settings of a server that uses it. */
export function paymentSettings(url: string, endpointId: string): Record<string, string> {
  return {
    STRIPE_SECRET_KEY: PAYMENT_KEY,
    STRIPE_PRICES: Object.entries(PRICES)
      .map(([plan, price]) => `${plan}=${price}`)
      .join(','),
    STRIPE_WEBHOOK_ENDPOINT: endpointId,
    STRIPE_API_URL: url,
  }
}
