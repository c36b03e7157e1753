import type { About } from '../../about.ts'
import { type apiKeys, ApiKey } from './api-keys.ts'

export const about = {
  text: 'Keys for this API.',
  schemas: { ApiKey },
  bodies: { create: { name: 'CI', role: 'developer', expires_at: '2027-02-19T00:00:00Z' } },
  members: { ApiKey: { name: 'CI', shown_prefix: 'hk_1a2b3c4d', role: 'developer' } },
} satisfies About<typeof apiKeys>
