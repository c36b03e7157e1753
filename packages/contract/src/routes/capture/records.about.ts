import type { About } from '../../about.ts'
import { type records, RecordItem } from './records.ts'

export const about = {
  text: 'Records, also called events: the payloads as filed.',
  schemas: { Record: RecordItem },
} satisfies About<typeof records>
