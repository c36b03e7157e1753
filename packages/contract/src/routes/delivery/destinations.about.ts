import type { About } from '../../about.ts'
import { Breaker, Headers, Ordering, PayloadTemplate, RateLimit, Retry } from '../../destination-settings.ts'
import { type destinations, Destination } from './destinations.ts'
import {
  DestinationAuth,
  DestinationProxy,
  DestinationTls,
  ShownAuth,
  ShownProxy,
  ShownTls,
} from '../../destination-auth.ts'
import { DestinationConfig } from '../../destination-kinds.ts'

export const about = {
  text: 'Receivers of deliveries, with their signing, retries, limits and health.',
  refusals: {
    create: ['name_taken', 'invalid_url'],
    update: ['name_taken', 'invalid_url', 'invalid_state'],
    recover: ['replay_limit_reached', 'delivery_allowance_exhausted', 'search_timed_out'],
    probe: ['invalid_state'],
    rotateSecret: ['overlap_running'],
  },
  schemas: {
    Breaker,
    CustomHeaders: Headers,
    Destination,
    DestinationAuth,
    DestinationConfig,
    DestinationProxy,
    DestinationTls,
    Ordering,
    PayloadTemplate,
    RateLimit,
    RetrySchedule: Retry,
    ShownDestinationAuth: ShownAuth,
    ShownDestinationProxy: ShownProxy,
    ShownDestinationTls: ShownTls,
  },
  bodies: {
    create: {
      name: 'ERP',
      url: 'https://erp.example.com/hooks',
      datasets: ['orders'],
      conditions: [{ path: 'total', op: 'gt', value: 40 }],
      headers: { 'X-Tenant': 'acme' },
    },
    update: { rate_limit: { count: 10, per: 'second' } },
    rotateSecret: { overlap_hours: 24 },
    recover: { since: '2026-11-20T00:00:00Z', enable: true, dry_run: true },
    test: {},
  },
  members: {
    Breaker: { state: 'closed' },
    Destination: {
      name: 'ERP',
      datasets: ['orders'],
      headers: { 'X-Tenant': { has_value: true } },
      ordering: 'none',
      payload_template: null,
      forward_headers: ['X-Shop-Topic'],
    },
  },
} satisfies About<typeof destinations>
