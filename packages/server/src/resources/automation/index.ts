import type { RoomsOf } from '../verbs.ts'
import { aiAgents } from './ai-agents/index.ts'
import { aiProviders } from './ai-providers/index.ts'
import { aiRuns } from './ai-runs/index.ts'
import { triggers } from './triggers/index.ts'
import { workflowInstances } from './workflow-instances/index.ts'
import { workflows } from './workflows/index.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const automation: RoomsOf<'automation'> = {
  workflowInstances,
  workflows,
  aiProviders,
  aiAgents,
  triggers,
  aiRuns,
}
