import type { About } from '../../about.ts'

export const about = {
  tables: {
    data_keys: { exported: 'data_keys', unconfigured: { kind: 'data_key' } },
  },
} as const satisfies About
