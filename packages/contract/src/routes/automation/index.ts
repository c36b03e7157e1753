import { aiAgents } from './ai-agents.ts'
import { about as aboutAiAgents } from './ai-agents.about.ts'
import { aiProviders } from './ai-providers.ts'
import { about as aboutAiProviders } from './ai-providers.about.ts'
import { aiRuns } from './ai-runs.ts'
import { about as aboutAiRuns } from './ai-runs.about.ts'
import { triggers } from './triggers.ts'
import { about as aboutTriggers } from './triggers.about.ts'
import { workflowInstances } from './workflow-instances.ts'
import { about as aboutWorkflowInstances } from './workflow-instances.about.ts'
import { workflows } from './workflows.ts'
import { about as aboutWorkflows } from './workflows.about.ts'
import type { AboutRooms } from '../../about.ts'

/** Workflows and AI agents. Records start them. */
export const automation = { workflowInstances, workflows, aiProviders, aiAgents, triggers, aiRuns } as const

export const automationAbout = {
  workflowInstances: aboutWorkflowInstances,
  workflows: aboutWorkflows,
  aiProviders: aboutAiProviders,
  aiAgents: aboutAiAgents,
  triggers: aboutTriggers,
  aiRuns: aboutAiRuns,
} satisfies AboutRooms<typeof automation>
