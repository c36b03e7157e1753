import type { About } from '../../about.ts'

export const about = {
  tables: {
    workflows: { exported: 'workflows' },
    workflow_versions: { exported: 'workflow_versions' },
  },
} as const satisfies About
