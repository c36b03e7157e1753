import { aiAgents } from './ai-agents.ts'
import { aiProviders } from './ai-providers.ts'
import { aiRuns } from './ai-runs.ts'
import { triggers } from './triggers.ts'
import { workflowInstances } from './workflow-instances.ts'
import { workflows } from './workflows.ts'

/** Workflows and AI agents. Records start them. */
export const automation = { workflowInstances, workflows, aiProviders, aiAgents, triggers, aiRuns } as const
