import type { About } from '../../about.ts'
import { ProjectConfig } from '../../project-config.ts'
import type { config } from './config.ts'

export const about = {
  text: 'The configuration of a project as one file: export, plan and apply.',
  refusals: {
    plan: ['invalid_url'],
    apply: ['project_changed', 'invalid_url', 'slug_taken', 'name_taken', 'invalid_state'],
  },
  schemas: { ProjectConfig },
} satisfies About<typeof config>
