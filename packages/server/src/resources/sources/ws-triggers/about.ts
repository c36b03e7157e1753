import type { About } from '../../about.ts'

export const about = {
  tables: {
    ws_triggers: { exported: 'ws_triggers', sealed: ['secret'], unconfigured: { kind: 'ws_trigger' } },
  },
} as const satisfies About
