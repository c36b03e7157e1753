import type { About } from '../../about.ts'
import { type rules, Rule } from './rules.ts'

export const about = {
  text: 'Rules file events of POST /v1/ingest/{ingest_key} into datasets.',
  refusals: { create: ['name_taken'], update: ['name_taken'] },
  schemas: { Rule },
} satisfies About<typeof rules>
