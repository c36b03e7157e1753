import type { About } from '../../about.ts'
import type { apiKeys } from './api-keys.ts'

export const about = {
  text: 'Keys for this API.',
} satisfies About<typeof apiKeys>
