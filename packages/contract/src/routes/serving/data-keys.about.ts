import type { About } from '../../about.ts'
import { type dataKeys, DataKey } from './data-keys.ts'

export const about = {
  text: 'Keys that read stored records on /v1/data.',
  refusals: { create: ['data_key_limit_reached'] },
  schemas: { DataKey },
} satisfies About<typeof dataKeys>
