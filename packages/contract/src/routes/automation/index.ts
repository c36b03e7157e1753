import { aiAgents } from './ai-agents.ts'
import { aiProviders } from './ai-providers.ts'
import { aiRuns } from './ai-runs.ts'
import { triggers } from './triggers.ts'
import { workflowInstances } from './workflow-instances.ts'
import { workflows } from './workflows.ts'

/** Work that records start: workflows, and AI agents. */
export const automation = { workflowInstances, workflows, aiProviders, aiAgents, triggers, aiRuns } as const
