import type { About } from '../../about.ts'

export const about = {
  tables: {
    project_rollups: { leftOut: 'Counts of the events above by the minute and the hour.' },
    destination_rollups: { leftOut: 'Counts of the attempts above by the minute and the hour.' },
    flow_rollups: { leftOut: 'Counts of the events above by the minute and the hour, line by line.' },
  },
} as const satisfies About
