import type { About } from '../../about.ts'

export const about = {
  tables: {
    billing_accounts: { leftOut: 'The subscription at the payment provider, which GET billing shows.' },
  },
} as const satisfies About
