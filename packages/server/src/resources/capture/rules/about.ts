import type { About } from '../../about.ts'

export const about = {
  tables: {
    rules: { exported: 'rules' },
  },
} as const satisfies About
