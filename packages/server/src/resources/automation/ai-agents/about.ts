import type { About } from '../../about.ts'

export const about = {
  tables: {
    ai_agents: { exported: 'ai_agents', unconfigured: { kind: 'ai_agent' } },
    ai_agent_usage: { leftOut: 'Monthly token counts of the runs above.' },
  },
} as const satisfies About
