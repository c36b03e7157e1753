import type { About } from '../../about.ts'

export const about = {
  tables: {
    projects: { exported: 'projects' },
  },
} as const satisfies About
