import type { About } from '../../about.ts'
import { type ingestKeys, IngestKey } from './ingest-keys.ts'

export const about = {
  text: 'Keys that send events, and read the stream, without the URL of an endpoint.',
  refusals: { create: ['name_taken'], rotateSigningSecret: ['overlap_running'] },
  schemas: { IngestKey },
  bodies: {
    create: { name: 'Checkout', scopes: ['ingest'], datasets: ['orders'] },
    update: { require_signature: true },
    rotateSigningSecret: { overlap_hours: 24 },
  },
  members: { IngestKey: { name: 'Checkout', shown_prefix: 'ik_live_1a2b', scopes: ['ingest'], datasets: ['orders'] } },
} satisfies About<typeof ingestKeys>
