import type { About } from '../../about.ts'

export const about = {
  tables: {
    agent_accounts: { leftOut: 'How an agent registered this workspace, which its audit log shows.' },
  },
} as const satisfies About
