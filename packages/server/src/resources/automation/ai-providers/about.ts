import type { About } from '../../about.ts'

export const about = {
  tables: {
    ai_providers: { exported: 'ai_providers', sealed: ['api_key'], unconfigured: { kind: 'ai_provider' } },
  },
} as const satisfies About
