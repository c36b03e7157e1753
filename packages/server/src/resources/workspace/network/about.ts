import type { About } from '../../about.ts'

export const about = {
  tables: {
    network_access: { leftOut: 'The addresses that can use the workspace, which GET settings/network shows.' },
  },
} as const satisfies About
