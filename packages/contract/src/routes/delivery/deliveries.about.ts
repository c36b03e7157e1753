import type { About } from '../../about.ts'
import { type deliveries, Attempt, Delivery, ListedDelivery } from './deliveries.ts'

export const about = {
  text: 'Records on their way to a destination, with every attempt.',
  refusals: {
    replay: ['invalid_state', 'delivery_allowance_exhausted'],
    retry: ['invalid_state'],
    cancel: ['invalid_state'],
  },
  schemas: { Attempt, Delivery, ListedDelivery },
  members: {
    Attempt: {
      outcome: 'failed',
      trigger: 'initial',
      response_status: 503,
      response_headers: { 'content-type': 'text/plain' },
      response_body: 'Service Unavailable',
      response_truncated: false,
      error_code: 'bad_status',
      error_detail: 'The destination answered 503.',
      duration_ms: 112,
      next_attempt_at: '2026-11-21T09:57:16.801Z',
      request: {
        method: 'POST',
        url: 'https://erp.example.com/webhooks',
        headers: { 'content-type': 'application/json', 'service-attempt': '1', 'x-tenant': '••••••••' },
        body_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        body_bytes: 214,
        body_form: null,
        body_reason: null,
        batch_size: null,
      },
    },
    Delivery: {
      state: 'retrying',
      attempt_count: 1,
      last_status: 503,
      last_error: 'bad_status',
      next_attempt_at: '2026-11-21T09:57:16.801Z',
    },
  },
} satisfies About<typeof deliveries>
