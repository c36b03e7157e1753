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
  bodies: {
    create: {
      name: 'Ollama',
      kind: 'openai_compatible',
      base_url: 'http://127.0.0.1:11434/v1',
      default_model: 'llama3.2',
    },
    update: { default_model: 'llama3.3' },
  },
  members: {
    AiProvider: {
      name: 'Ollama',
      kind: 'openai_compatible',
      base_url: 'http://127.0.0.1:11434/v1',
      default_model: 'llama3.2',
    },
  },
} satisfies About<typeof aiProviders>
