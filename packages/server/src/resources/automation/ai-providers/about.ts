import type { About } from '../../about.ts'

export const about = {
  tables: {
    ai_providers: { exported: 'ai_providers', sealed: ['api_key'] },
  },
} as const satisfies About
