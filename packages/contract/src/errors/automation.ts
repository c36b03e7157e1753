import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about workflows, AI providers, agents, triggers and their runs. */
export const automation = {
  workflow_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of workflows. Delete one first.',
  },
  automation_limit_reached: {
    status: 409,
    text: 'This project has the maximum number of these resources. Delete one that is no longer needed.',
  },
  ai_provider_in_use: {
    status: 409,
    text: 'Agents use this provider. First assign another provider to them, or delete them.',
  },
  ai_agent_in_use: {
    status: 409,
    text: 'Triggers use this agent. First assign another agent to them, or delete them.',
  },
  ai_run_ended: { status: 409, text: 'This run has ended, so it cannot be canceled.' },
  ai_run_not_ended: {
    status: 409,
    text: 'Only a run that failed, was canceled or was skipped can be retried. If a workflow started it, retry the workflow instance.',
  },
} as const satisfies ReasonTexts
