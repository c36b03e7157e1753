import type { TransformLanguage } from '@postroad/contract'

/** A program to begin with. A test runs each of them on its sample and compares the result. */
export type Snippet = {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly language: TransformLanguage
  readonly code: string
  readonly sample: unknown
  /** The body that it makes of the sample; null: nothing is sent. */
  readonly body: unknown
}

export const SNIPPETS: readonly Snippet[] = [
  {
    id: 'rename',
    name: 'Rename fields',
    text: 'Sends other names, and leaves the rest out.',
    language: 'js',
    code: `export function transform(event) {
  const { id, customer, total } = event.data
  return { body: { order_id: id, email: customer?.email ?? null, amount: total } }
}
`,
    sample: { id: 'o_1', customer: { email: 'ada@example.com' }, total: 12, internal: true },
    body: { order_id: 'o_1', email: 'ada@example.com', amount: 12 },
  },
  {
    id: 'filter',
    name: 'Send only some events',
    text: 'Returns null for events that the receiver does not want.',
    language: 'js',
    code: `export function transform(event) {
  if (event.data.total < 100) return null
  return event
}
`,
    sample: { total: 12 },
    body: null,
  },
  {
    id: 'redact',
    name: 'Mask personal data',
    text: 'Replaces the values of some names at any depth.',
    language: 'js',
    code: `const PRIVATE = new Set(['email', 'phone', 'card_number'])

function masked(value) {
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, PRIVATE.has(name) ? '***' : masked(one)]),
  )
}

export function transform(event) {
  return { body: masked(event.data) }
}
`,
    sample: { user: { email: 'ada@example.com', plan: 'pro' }, cards: [{ card_number: '4242' }] },
    body: { user: { email: '***', plan: 'pro' }, cards: [{ card_number: '***' }] },
  },
  {
    id: 'lines',
    name: 'Summarize a list',
    text: 'Adds up the items of an order, which no template can.',
    language: 'js',
    code: `export function transform(event) {
  const { items = [] } = event.data
  const total = items.reduce((sum, { price, quantity }) => sum + price * quantity, 0)
  const text = items.map(({ name, quantity }) => \`\${quantity} × \${name}\`).join(', ')
  return { body: { text: \`New order: \${text}\`, total } }
}
`,
    sample: {
      items: [
        { name: 'Tea', price: 4, quantity: 2 },
        { name: 'Cup', price: 7, quantity: 1 },
      ],
    },
    body: { text: 'New order: 2 × Tea, 1 × Cup', total: 15 },
  },
  {
    id: 'form',
    name: 'Send a form',
    text: 'A text body with its own content type.',
    language: 'js',
    code: `export function transform(event) {
  const body = Object.entries(event.data)
    .map(([name, value]) => \`\${encodeURIComponent(name)}=\${encodeURIComponent(String(value))}\`)
    .join('&')
  return { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
}
`,
    sample: { name: 'Ada Lovelace', age: 36 },
    body: 'name=Ada%20Lovelace&age=36',
  },
  {
    id: 'typed',
    name: 'TypeScript',
    text: 'Types are removed before the code runs.',
    language: 'ts',
    code: `type Order = { id: string; lines: { sku: string }[] }

export function transform(event: { data: unknown; dataset: string }): { body: unknown } {
  const order = event.data as Order
  return { body: { of: event.dataset, skus: order.lines.map(({ sku }) => sku) } }
}
`,
    sample: { id: 'o_1', lines: [{ sku: 'a' }, { sku: 'b' }] },
    body: { of: 'orders', skus: ['a', 'b'] },
  },
]
