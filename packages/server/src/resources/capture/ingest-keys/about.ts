import type { About } from '../../about.ts'

export const about = {
  tables: {
    ingest_keys: { exported: 'ingest_keys', sealed: ['signing_secret', 'previous_signing_secret'] },
  },
} as const satisfies About
