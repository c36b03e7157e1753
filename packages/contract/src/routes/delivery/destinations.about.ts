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
} satisfies About<typeof destinations>
