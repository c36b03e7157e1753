import type { BodyExamples } from './body-examples.ts'

/** Examples of sources and triggers. */
const DATABASE = {
  kind: 'postgres' as const,
  connection: 'postgres://reader:secret@db.example.com:5432/shop',
  query: 'select id, total, updated_at from orders',
  cursor_column: 'updated_at',
  key_column: 'id',
}

export const SOURCE_BODIES = {
  cronTriggers: {
    create: { name: 'Morning report', expression: '0 9 * * 1-5', time_zone: 'Europe/Berlin', dataset: 'reports' },
    preview: { expression: '0 9 * * 1-5', time_zone: 'Europe/Berlin' },
    update: { enabled: false },
  },
  wsTriggers: {
    create: {
      name: 'Trades',
      url: 'wss://stream.example.com/v1',
      dataset: 'trades',
      subscribe: ['{"op":"subscribe","channel":"trades"}'],
    },
    update: { enabled: false },
  },
  sources: {
    create: { name: 'Orders of the shop', dataset: 'orders', settings: DATABASE },
    test: { settings: DATABASE },
    update: { enabled: true },
  },
} satisfies BodyExamples

export const SOURCE_MEMBERS: Readonly<Record<string, unknown>> = {
  'CronTrigger.name': 'Morning report',
  'CronTrigger.expression': '0 9 * * 1-5',
  'CronTrigger.time_zone': 'Europe/Berlin',
  'CronTrigger.dataset': 'reports',
  'CronTrigger.data': { kind: 'daily' },
  'OriginError.reason': 'quota_exceeded',
  'OriginError.error': 'The events of this month are used up.',
  'WsTrigger.name': 'Trades',
  'WsTrigger.url': 'wss://stream.example.com/v1',
  'WsTrigger.dataset': 'trades',
  'WsTrigger.state': 'connected',
  'Source.name': 'Orders of the shop',
  'Source.dataset': 'orders',
  'Source.state': 'waiting',
  'Source.position': { after: { cursor: '2026-11-21 09:57:11.263+00', key: '128' }, seen: null },
  'Source.replication': null,
  'Source.snapshot': null,
  'Source.settings': {
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
}
