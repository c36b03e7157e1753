import type { About } from '../../about.ts'

export const about = {
  tables: {
    workflow_instances: { exported: 'workflow_instances' },
    workflow_step_runs: { exported: 'workflow_instances' },
    workflow_pauses: { leftOut: 'Workspaces whose workflow instances are being paused or resumed.' },
  },
} as const satisfies About
