import type { About } from '../../about.ts'

export const about = {
  tables: {
    idempotency_records: { owner: 'workspace', sealed: ['response'] },
    personal_idempotency_records: { owner: 'installation', sealed: ['response'] },
  },
} as const satisfies About
