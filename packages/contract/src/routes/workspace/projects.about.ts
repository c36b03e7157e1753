import type { About } from '../../about.ts'
import { type projects, Project } from './projects.ts'

export const about = {
  text: 'Projects group endpoints, rules, datasets and destinations.',
  refusals: { create: ['slug_taken'], remove: ['default_project'] },
  schemas: { Project },
} satisfies About<typeof projects>
