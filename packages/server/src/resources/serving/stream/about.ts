import type { About } from '../../about.ts'

export const about = {
  tables: {
    stream_connections: { leftOut: 'The current connections to the live stream.' },
  },
} as const satisfies About
