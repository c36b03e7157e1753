import type { About } from '../../about.ts'
import { ShownSourceSettings, SourceSettings } from '../../source-settings.ts'
import { type sources, Source } from './sources.ts'

export const about = {
  text: 'Systems that send no webhooks, which Postroad reads.',
  refusals: { create: ['name_taken', 'source_limit_reached'], update: ['name_taken'] },
  schemas: { ShownSourceSettings, Source, SourceSettings },
} satisfies About<typeof sources>
