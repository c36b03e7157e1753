import type { About } from '../../about.ts'

export const about = {
  tables: {
    data_keys: { exported: 'data_keys' },
  },
} as const satisfies About
