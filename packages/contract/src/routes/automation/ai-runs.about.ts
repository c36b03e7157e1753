import type { About } from '../../about.ts'
import { type aiRuns, AiRun } from './ai-runs.ts'

export const about = {
  text: 'Runs of agents, with every call of the model and of a tool.',
  refusals: { cancel: ['ai_run_ended'], retry: ['ai_run_not_ended'] },
  schemas: { AiRun },
  members: { AiRun: { dataset: 'tickets', state: 'succeeded', output: { urgency: 'high' } } },
} satisfies About<typeof aiRuns>
