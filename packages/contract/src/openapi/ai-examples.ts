import { exampleId } from './example-id.ts'

/** Examples of AI providers, agents, triggers and runs. */
export const AI_BODIES = {
  aiProviders: {
    create: {
      name: 'Ollama',
      kind: 'openai_compatible',
      base_url: 'http://127.0.0.1:11434/v1',
      default_model: 'llama3.2',
    },
    update: { default_model: 'llama3.3' },
  },
  aiAgents: {
    create: {
      name: 'Triage',
      provider_id: exampleId('aiProvider'),
      instructions: 'Say how urgent the ticket is.',
      output_schema: { type: 'object', properties: { urgency: { enum: ['low', 'high'] } }, required: ['urgency'] },
    },
    update: { max_steps: 4 },
  },
  triggers: {
    create: {
      name: 'Triage of tickets',
      dataset: 'tickets',
      agent_id: exampleId('aiAgent'),
      output_dataset: 'triaged',
    },
    update: { max_per_minute: 30 },
  },
} as const

export const AI_MEMBERS = {
  'AiProvider.name': 'Ollama',
  'AiProvider.kind': 'openai_compatible',
  'AiProvider.base_url': 'http://127.0.0.1:11434/v1',
  'AiProvider.default_model': 'llama3.2',
  'AiAgent.name': 'Triage',
  'AiAgent.instructions': 'Say how urgent the ticket is.',
  'AiTrigger.name': 'Triage of tickets',
  'AiTrigger.dataset': 'tickets',
  'AiRun.dataset': 'tickets',
  'AiRun.state': 'succeeded',
  'AiRun.output': { urgency: 'high' },
} as const
