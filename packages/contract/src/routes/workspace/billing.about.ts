import type { About } from '../../about.ts'
import type { billing } from './billing.ts'

export const about = {
  text: 'The plan, its usage, and the subscription that pays for it.',
  refusals: {
    checkout: ['billing_not_configured', 'payment_provider_error', 'invalid_state'],
    openPortal: ['billing_not_configured', 'payment_provider_error', 'invalid_state'],
  },
} satisfies About<typeof billing>
