import type { About } from '../../about.ts'
import { type aiProviders, AiProvider } from './ai-providers.ts'

export const about = {
  text: 'Servers of language models that agents use.',
  refusals: {
    create: ['name_taken', 'automation_limit_reached'],
    update: ['name_taken'],
    remove: ['ai_provider_in_use'],
  },
  schemas: { AiProvider },
} satisfies About<typeof aiProviders>
