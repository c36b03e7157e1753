import type { About } from '../../about.ts'

export const about = {
  tables: {
    idempotency_records: {
      owner: 'workspace',
      leftOut: 'Sealed responses, stored for a day, to recognize a repeated request.',
      sealed: ['response'],
    },
    personal_idempotency_records: { owner: 'installation', sealed: ['response'] },
  },
} as const satisfies About
