import type { About } from '../../about.ts'

export const about = {
  tables: {
    sso_requests: { exported: 'sso_requests' },
  },
} as const satisfies About
