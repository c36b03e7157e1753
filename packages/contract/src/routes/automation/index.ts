import { workflowInstances } from './workflow-instances.ts'
import { workflows } from './workflows.ts'

/** Work that events start: workflows and their instances. */
export const automation = { workflowInstances, workflows } as const
