import type { About } from '../../about.ts'
import type { billing } from './billing.ts'

export const about = {
  text: 'The plan, its usage, and the subscription that pays for it.',
  refusals: {
    checkout: ['billing_not_configured', 'payment_provider_error', 'invalid_state'],
    openPortal: ['billing_not_configured', 'payment_provider_error', 'invalid_state'],
  },
  bodies: { checkout: { plan: 'team' } },
  members: {
    Plan: { name: 'team' },
    Period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
    Subscription: { plan: 'team' },
    Price: { currency: 'usd' },
  },
} satisfies About<typeof billing>
