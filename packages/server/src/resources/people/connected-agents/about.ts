import type { About } from '../../about.ts'

export const about = {
  tables: {
    connected_agents: { leftOut: 'Programs that members connected, which GET agents shows to people.' },
  },
} as const satisfies About
