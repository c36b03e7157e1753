import type { About } from '../../about.ts'

export const about = {
  tables: {
    ingest_keys: {
      exported: 'ingest_keys',
      sealed: ['signing_secret', 'previous_signing_secret'],
      unconfigured: { kind: 'ingest_key', where: 'revoked_at is null' },
    },
  },
} as const satisfies About
