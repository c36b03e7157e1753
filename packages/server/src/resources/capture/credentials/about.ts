import type { About } from '../../about.ts'

export const about = {
  tables: {
    credentials: { leftOut: 'Hashes of keys and of URLs, which admit senders and clients.' },
  },
} as const satisfies About
