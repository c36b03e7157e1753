import type { About } from '../../about.ts'
import { type ingestKeys, IngestKey } from './ingest-keys.ts'

export const about = {
  text: 'Keys that send events, and read the stream, without the URL of an endpoint.',
  refusals: { create: ['name_taken'], rotateSigningSecret: ['overlap_running'] },
  schemas: { IngestKey },
} satisfies About<typeof ingestKeys>
