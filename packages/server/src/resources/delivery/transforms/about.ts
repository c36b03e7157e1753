import type { About } from '../../about.ts'

export const about = {
  tables: {
    transforms: { exported: 'transforms' },
    transform_versions: { exported: 'transform_versions' },
  },
} as const satisfies About
