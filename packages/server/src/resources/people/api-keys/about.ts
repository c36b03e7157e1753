import type { About } from '../../about.ts'

export const about = {
  tables: {
    api_keys: { exported: 'api_keys' },
  },
} as const satisfies About
