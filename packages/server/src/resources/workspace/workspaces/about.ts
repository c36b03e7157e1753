import type { About } from '../../about.ts'

export const about = {
  tables: {
    workspaces: { exported: 'workspace' },
  },
} as const satisfies About
