import type { About } from '../../about.ts'
import type { projects } from './projects.ts'

export const about = {
  text: 'Projects group endpoints, rules, datasets and destinations.',
  refusals: { create: ['slug_taken'], remove: ['default_project'] },
} satisfies About<typeof projects>
