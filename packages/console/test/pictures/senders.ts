import { SENDERS } from '../../../server/test/stage/signed-requests.ts'

/** Payloads in the style of Stripe, Shopify, GitHub and a custom service, the same ones in every run. */

export type SenderName = 'stripe' | 'shopify' | 'github' | 'checkout'
export type Payload = {
  readonly from: SenderName
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Numbers that look random: a linear congruential generator. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return this.#state / 2 ** 32
  }

  upTo(count: number): number {
    return Math.floor(this.next() * count)
  }

  of<T>(list: readonly [T, ...T[]]): T {
    return list[this.upTo(list.length)] ?? list[0]
  }

  code(length: number): string {
    return Array.from({ length }, () => CODE[this.upTo(CODE.length)]).join('')
  }
}

const CODE = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const CURRENCIES = ['usd', 'eur', 'gbp'] as const
const REGIONS = ['eu-west', 'us-east', 'us-west', 'ap-south'] as const
const PEOPLE = ['ada', 'grace', 'alan', 'edsger', 'barbara', 'donald', 'radia', 'ken'] as const
const ITEMS = ['Trail pack 32 l', 'Rain shell', 'Merino crew', 'Head torch', 'Camp stove', 'Wool socks'] as const
const REPOSITORIES = ['storefront', 'ledger', 'warehouse-api', 'infrastructure'] as const

export function payloadFrom(from: SenderName, chance: Chance, at: number): Payload {
  const { object, headers = {} } = MAKERS[from](chance, Math.floor(at / 1_000))
  return { from, body: JSON.stringify(object), headers }
}

type Made = { readonly object: unknown; readonly headers?: Readonly<Record<string, string>> }

const MAKERS: Readonly<Record<SenderName, (chance: Chance, seconds: number) => Made>> = {
  stripe: (chance, seconds) => {
    const type = chance.of([
      'invoice.paid',
      'invoice.paid',
      'payment_intent.succeeded',
      'charge.succeeded',
      'invoice.finalized',
      'customer.subscription.updated',
      'payment_intent.payment_failed',
      'charge.refunded',
    ])
    const amount = 900 + chance.upTo(480) * 100
    const customer = `cus_${chance.code(14)}`
    return {
      object: {
        id: `evt_1${chance.code(16)}`,
        object: 'event',
        type,
        api_version: '2026-09-30',
        created: seconds,
        livemode: true,
        data: {
          object: {
            id: `${type.startsWith('invoice') ? 'in' : 'pi'}_1${chance.code(16)}`,
            customer,
            customer_email: `${chance.of(PEOPLE)}@example.com`,
            amount_due: amount,
            amount_paid: type.endsWith('failed') ? 0 : amount,
            currency: chance.of(CURRENCIES),
            status: type.endsWith('failed') ? 'requires_payment_method' : 'paid',
            period_end: seconds + 2_592_000,
            lines: Array.from({ length: 1 + chance.upTo(3) }, () => ({
              description: chance.of(ITEMS),
              quantity: 1 + chance.upTo(4),
              amount: 900 + chance.upTo(90) * 100,
            })),
            metadata: { order: `ord_${1_000 + chance.upTo(9_000)}`, channel: chance.of(['self-serve', 'sales']) },
          },
        },
        request: { id: `req_${chance.code(14)}`, idempotency_key: null },
      },
    }
  },
  shopify: (chance, seconds) => {
    const total = (12 + chance.next() * 480).toFixed(2)
    const topic = chance.of(['orders/create', 'orders/create', 'orders/paid', 'orders/fulfilled', 'carts/update'])
    return {
      headers: {
        'X-Shopify-Topic': topic,
        'X-Shopify-Webhook-Id': chance.code(24),
        'X-Shopify-Shop-Domain': 'northwind.myshopify.com',
      },
      object: {
        id: 8_209_829_119_000 + chance.upTo(900_000),
        name: `#${1_000 + chance.upTo(9_000)}`,
        created_at: new Date(seconds * 1_000).toISOString(),
        total_price: total,
        currency: chance.of(CURRENCIES).toUpperCase(),
        financial_status: 'paid',
        fulfillment_status: topic === 'orders/fulfilled' ? 'fulfilled' : null,
        region: chance.of(REGIONS),
        items: 1 + chance.upTo(6),
        customer: {
          id: 115_310_627 + chance.upTo(9_999),
          first_name: chance.of(PEOPLE),
          orders_count: chance.upTo(12),
        },
        line_items: Array.from({ length: 1 + chance.upTo(3) }, () => ({
          title: chance.of(ITEMS),
          quantity: 1 + chance.upTo(3),
          sku: `NW-${chance.upTo(900) + 100}`,
        })),
      },
    }
  },
  github: (chance) => {
    const repository = chance.of(REPOSITORIES)
    const event = chance.of(['push', 'push', 'pull_request', 'workflow_run', 'issues', 'release'])
    return {
      headers: {
        'X-GitHub-Event': event,
        'X-GitHub-Delivery': chance.code(32),
        'User-Agent': 'GitHub-Hookshot/1f2c3d4',
      },
      object: {
        ...(event === 'push'
          ? { ref: 'refs/heads/main', after: chance.code(40).toLowerCase(), commits: 1 + chance.upTo(5) }
          : {
              action: chance.of(['opened', 'closed', 'completed', 'synchronize']),
              number: 100 + chance.upTo(900),
            }),
        repository: { full_name: `northwind/${repository}`, private: true, default_branch: 'main' },
        sender: { login: chance.of(PEOPLE), type: 'User' },
      },
    }
  },
  checkout: (chance, seconds) => ({
    object: {
      type: chance.of(['cart.abandoned', 'checkout.completed', 'refund.requested']),
      at: seconds,
      total: Math.round(chance.next() * 500_000) / 100,
      region: chance.of(REGIONS),
      customer: { id: `cus_${chance.code(10)}`, tier: chance.of(['standard', 'gold']) },
      coupon: chance.upTo(4) === 0 ? 'SPRING' : null,
    },
  }),
}

export const SCHEMES = {
  stripe: 'payments_provider',
  shopify: 'commerce_platform',
  github: 'code_host',
} as const

/** The headers with which such a sender signs a body. */
export function signatureOf(
  from: keyof typeof SCHEMES,
  secret: string,
  of: { readonly body: string; readonly at: number },
): Readonly<Record<string, string>> {
  const sender = SENDERS[SCHEMES[from]]
  if (sender === undefined) throw new Error(`Nothing signs like ${from}.`)
  return sender.sign(secret, new TextEncoder().encode(of.body), Math.floor(of.at / 1_000))
}
