import type { About } from '../../about.ts'

export const about = {
  tables: {
    ai_runs: { exported: 'ai_runs' },
    ai_run_steps: { leftOut: 'The calls of the runs above, which the API shows one run at a time.' },
  },
} as const satisfies About
