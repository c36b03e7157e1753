import type { About } from '../../about.ts'
import { type aiAgents, AiAgent } from './ai-agents.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Models with instructions, tools and limits.',
  refusals: { create: ['name_taken', 'automation_limit_reached'], update: ['name_taken'], remove: ['ai_agent_in_use'] },
  schemas: { AiAgent },
  bodies: {
    create: {
      name: 'Triage',
      provider_id: exampleId('aiProvider'),
      instructions: 'Say how urgent the ticket is.',
      output_schema: { type: 'object', properties: { urgency: { enum: ['low', 'high'] } }, required: ['urgency'] },
    },
    update: { max_steps: 4 },
  },
  members: { AiAgent: { name: 'Triage', instructions: 'Say how urgent the ticket is.' } },
} satisfies About<typeof aiAgents>
