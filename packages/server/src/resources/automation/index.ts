import type { RoomsOf } from '../verbs.ts'
import { workflowInstances } from './workflow-instances/index.ts'
import { workflows } from './workflows/index.ts'

/** The rooms of this group that answer routes. */
export const automation: RoomsOf<'automation'> = { workflowInstances, workflows }
