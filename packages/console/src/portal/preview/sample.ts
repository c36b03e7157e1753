import type { Attempt, Branding, Delivery, Destination, Me, Server } from '../data/server.ts'

/** A customer with two destinations. Nothing is stored, and no request leaves the page. */

const PLAIN: Branding = {
  name: null,
  logo: null,
  logo_dark: null,
  accent: null,
  mode: 'auto',
  radius: 8,
  font: 'system',
  support_url: null,
  return_url: null,
  powered_by: true,
}
const TYPES = ['order_created', 'order_shipped', 'invoice_paid', 'refund_created'] as const
const HOUR_MS = 3_600_000
const MADE = new Date(Date.now() - 30 * 24 * HOUR_MS).toISOString()
const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()

export function sampleMe(branding: Branding = PLAIN): Me {
  return {
    portal: { id: 'prt_sample', name: 'Sample', slug: 'sample', branding },
    customer: { id: 'cus_sample', customer_id: 'northwind', name: 'Northwind Traders' },
    event_types: [...TYPES],
    expires_at: new Date(Date.now() + 8 * HOUR_MS).toISOString(),
    suspended: false,
    destinations_max: 50,
  }
}

function destinationOf(part: Partial<Destination> & Pick<Destination, 'id' | 'url'>): Destination {
  return {
    description: null,
    event_types: null,
    enabled: true,
    disabled_reason: null,
    disabled_at: null,
    previous_secret_expires_at: null,
    public_keys: [],
    last_24_hours: { succeeded: 0, failed: 0 },
    created_at: MADE,
    updated_at: MADE,
    ...part,
  }
}

const DESTINATIONS: readonly Destination[] = [
  destinationOf({
    id: 'dst_orders',
    url: 'https://api.northwind.example/webhooks/orders',
    description: 'Orders',
    event_types: ['order_created', 'order_shipped'],
    last_24_hours: { succeeded: 1_284, failed: 2 },
  }),
  destinationOf({
    id: 'dst_ledger',
    url: 'https://ledger.northwind.example/incoming',
    description: 'Ledger',
    last_24_hours: { succeeded: 3, failed: 21 },
  }),
  destinationOf({
    id: 'dst_staging',
    url: 'https://staging.northwind.example/webhooks',
    enabled: false,
    disabled_reason: 'by_hand',
    disabled_at: ago(90),
  }),
]

const DELIVERIES: readonly Delivery[] = (
  [
    ['order_created', 'dst_orders', 'delivered', 200, 1],
    ['invoice_paid', 'dst_ledger', 'retrying', 503, 3],
    ['order_shipped', 'dst_orders', 'delivered', 202, 1],
    ['refund_created', 'dst_ledger', 'failed', 500, 12],
    ['order_created', 'dst_orders', 'delivered', 200, 2],
  ] as const
).map(([dataset, destination_id, status, response_status, attempts], index) => ({
  id: `dlv_sample${index}`,
  event_id: `rec_sample${index}`,
  dataset,
  destination_id,
  status,
  pause_reason: null,
  attempts,
  response_status,
  error_code: null,
  created_at: ago(4 + index * 11),
  next_attempt_at: status === 'retrying' ? new Date(Date.now() + 120_000).toISOString() : null,
  held_by: null,
}))

function attemptOf({ id, created_at, response_status }: Delivery): Attempt {
  const isTaken = response_status !== null && response_status < 300
  return {
    id: `att_${id}`,
    delivery_id: id,
    number: 1,
    trigger: 'initial',
    started_at: created_at,
    duration_ms: 84,
    outcome: isTaken ? 'succeeded' : 'failed',
    response_status,
    response_headers: { 'content-type': 'application/json' },
    response_body: isTaken ? '{"ok":true}' : '{"error":"unavailable"}',
    response_truncated: false,
    error_code: null,
    error_detail: null,
    next_attempt_at: null,
    request: null,
  }
}

const REFUSED = 'This is a preview with sample data. You cannot change anything here.'
const refuse = (): Promise<never> => Promise.reject(new Error(REFUSED))

export function sampleServer(me: Me): Server {
  return {
    branding: () => Promise.resolve({ portal: me.portal, enabled: true }),
    enter: () => Promise.resolve(me),
    leave: () => Promise.resolve(),
    me: () => Promise.resolve(me),
    eventTypes: () => Promise.resolve({ event_types: TYPES.map((name) => ({ name, description: null })) }),
    destinations: () => Promise.resolve({ destinations: [...DESTINATIONS] }),
    createDestination: refuse,
    updateDestination: refuse,
    removeDestination: refuse,
    testDestination: refuse,
    rotateSecret: refuse,
    deliveries: ({ status, destination_id }) =>
      Promise.resolve({
        deliveries: DELIVERIES.filter(
          (one) =>
            (status === undefined || one.status === status) &&
            (destination_id === undefined || one.destination_id === destination_id),
        ),
        next_cursor: null,
      }),
    delivery: (id) => {
      const delivery = DELIVERIES.find((one) => one.id === id)
      return delivery === undefined ? refuse() : Promise.resolve({ delivery, attempts: [attemptOf(delivery)] })
    },
    attempt: refuse,
    retry: refuse,
  }
}
