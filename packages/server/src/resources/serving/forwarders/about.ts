import type { About } from '../../about.ts'

export const about = {
  tables: {
    forwarders: { sealed: ['headers'] },
  },
} as const satisfies About
