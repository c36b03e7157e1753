import type { About } from '../../about.ts'
import { ShownSourceSettings, SourceSettings } from '../../source-settings.ts'
import { type sources, Source } from './sources.ts'

const DATABASE = {
  kind: 'postgres' as const,
  connection: 'postgres://reader:secret@db.example.com:5432/shop',
  query: 'select id, total, updated_at from orders',
  cursor_column: 'updated_at',
  key_column: 'id',
} as const

export const about = {
  text: 'Systems that send no webhooks, which Postroad reads.',
  refusals: { create: ['name_taken', 'source_limit_reached'], update: ['name_taken'] },
  schemas: { ShownSourceSettings, Source, SourceSettings },
  bodies: {
    create: { name: 'Orders of the shop', dataset: 'orders', settings: DATABASE },
    test: { settings: DATABASE },
    update: { enabled: true },
  },
  members: {
    Source: {
      name: 'Orders of the shop',
      dataset: 'orders',
      state: 'waiting',
      position: { after: { cursor: '2026-11-21 09:57:11.263+00', key: '128' }, seen: null },
      replication: null,
      snapshot: null,
      settings: {
        kind: 'postgres',
        connection: { host: 'db.example.com', port: 5_432, database: 'shop', user: 'reader' },
        tls: { mode: 'verify', ca: null },
        query: 'select id, total, updated_at from orders',
        cursor_column: 'updated_at',
        key_column: 'id',
        start: 'now',
        poll_seconds: 60,
        batch_limit: 500,
        lag_seconds: 5,
      },
    },
  },
} satisfies About<typeof sources>
