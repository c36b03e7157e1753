import type { About } from '../../about.ts'

export const about = {
  tables: {
    destinations: {
      exported: 'destinations',
      sealed: [
        'secret',
        'previous_secret',
        'headers',
        'auth',
        'tls',
        'proxy',
        'access_token',
        'signing_key',
        'previous_signing_key',
      ],
    },
  },
} as const satisfies About
