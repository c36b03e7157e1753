import type { About } from '../../about.ts'
import { type triggers, AiTrigger } from './triggers.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Triggers that run an agent on records.',
  refusals: { create: ['name_taken', 'automation_limit_reached'], update: ['name_taken'] },
  schemas: { AiTrigger },
  bodies: {
    create: {
      name: 'Triage of tickets',
      dataset: 'tickets',
      agent_id: exampleId('aiAgent'),
      output_dataset: 'triaged',
    },
    update: { max_per_minute: 30 },
  },
  members: { AiTrigger: { name: 'Triage of tickets', dataset: 'tickets' } },
} satisfies About<typeof triggers>
