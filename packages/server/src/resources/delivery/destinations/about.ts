import type { About } from '../../about.ts'

export const about = {
  tables: {
    destinations: {
      exported: 'destinations',
      sealed: ['secret', 'previous_secret', 'headers', 'auth', 'tls', 'proxy', 'access_token'],
    },
  },
} as const satisfies About
