import type { About } from '../../about.ts'
import { type apiKeys, ApiKey } from './api-keys.ts'

export const about = {
  text: 'Keys for this API.',
  schemas: { ApiKey },
} satisfies About<typeof apiKeys>
