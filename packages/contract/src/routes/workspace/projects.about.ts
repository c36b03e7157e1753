import type { About } from '../../about.ts'
import { type projects, Project } from './projects.ts'

export const about = {
  text: 'Projects group endpoints, rules, datasets and destinations.',
  refusals: { create: ['slug_taken'], remove: ['default_project'] },
  schemas: { Project },
  bodies: { create: { name: 'Shop' }, update: { name: 'Web shop' } },
  members: { Project: { name: 'Shop', slug: 'shop' } },
} satisfies About<typeof projects>
