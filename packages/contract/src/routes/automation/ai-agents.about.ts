import type { About } from '../../about.ts'
import { type aiAgents, AiAgent } from './ai-agents.ts'

export const about = {
  text: 'Models with instructions, tools and limits.',
  refusals: { create: ['name_taken', 'automation_limit_reached'], update: ['name_taken'], remove: ['ai_agent_in_use'] },
  schemas: { AiAgent },
} satisfies About<typeof aiAgents>
