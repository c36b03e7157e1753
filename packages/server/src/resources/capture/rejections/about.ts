import type { About } from '../../about.ts'

export const about = {
  tables: {
    rejections: { exported: 'rejections' },
  },
} as const satisfies About
