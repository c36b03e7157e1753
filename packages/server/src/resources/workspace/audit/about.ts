import type { About } from '../../about.ts'

export const about = {
  tables: {
    audit_anchors: { owner: 'workspace', id: 'workspace_id', sealed: ['sealed'] },
  },
} as const satisfies About
