import type { About } from '../../about.ts'

export const about = {
  tables: {
    portal_tokens: { exported: 'portal_tokens' },
  },
} as const satisfies About
