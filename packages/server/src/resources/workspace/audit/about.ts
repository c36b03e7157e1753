import type { About } from '../../about.ts'

export const about = {
  tables: {
    audit_rows: { exported: 'audit' },
    audit_anchors: {
      owner: 'workspace',
      id: 'workspace_id',
      leftOut:
        'Seals of the ends of the audit log, valid only on this installation. The file of the log contains the hashes of its rows.',
      sealed: ['sealed'],
    },
  },
} as const satisfies About
