/** Invented events, one for each kind of sender that people try first. */
export const SAMPLES = {
  hello: { hello: 'world' },
  payment: {
    id: 'evt_1042',
    type: 'payment.succeeded',
    created: 1_767_225_600,
    data: { object: { id: 'pay_311', amount: 4_200, currency: 'eur', customer: 'cus_88', status: 'succeeded' } },
  },
  push: {
    ref: 'refs/heads/main',
    repository: { full_name: 'northwind/shop' },
    pusher: { name: 'ada' },
    commits: [
      { id: '4f2a9c1', message: 'Show the total of the basket', added: ['basket.md'], removed: [], modified: [] },
    ],
  },
  order: {
    id: 820_982_911,
    order_number: 1_234,
    total_price: '199.00',
    currency: 'EUR',
    customer: { email: 'bea@example.com' },
    line_items: [{ sku: 'TEA-100', title: 'Tea, 100 g', quantity: 2, price: '99.50' }],
  },
  message: {
    type: 'event_callback',
    team_id: 'T01',
    event: { type: 'message', channel: 'C42', user: 'U7', text: 'The deploy is done.', ts: '1767225600.000100' },
  },
  signup: {
    type: 'user.created',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { id: 'user_71', email: 'cem@example.com', plan: 'free' },
  },
} as const

export type SampleName = keyof typeof SAMPLES

export function sample(name: SampleName): Buffer {
  return Buffer.from(JSON.stringify(SAMPLES[name]))
}
