import type { About } from '../../about.ts'

export const about = {
  tables: {
    idempotency_keys: { leftOut: 'Stored for days, to recognize a repeated event.' },
  },
} as const satisfies About
