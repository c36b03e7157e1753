import type { About } from '../../about.ts'
import { type workflowInstances, WorkflowInstance, WorkflowStepRun } from './workflow-instances.ts'

export const about = {
  text: 'Instances of workflows, with every step that they ran.',
  refusals: { cancel: ['invalid_state'], retry: ['invalid_state'] },
  schemas: { WorkflowInstance, WorkflowStepRun },
} satisfies About<typeof workflowInstances>
