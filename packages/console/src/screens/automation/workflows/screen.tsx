import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllWorkflows, type Workflow } from '../../../data/automation-lists.ts'
import { CommandLine } from '../../../parts/command-line.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { WorkflowDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ active }: Workflow) => active },
  { id: 'off', label: 'Off', has: ({ active }: Workflow) => !active },
] as const

/** Workflows: steps that a record starts. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="Workflows"
      one="workflow"
      asked={useAllWorkflows()}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, slug, entry_dataset }) => [id, name, slug, entry_dataset].join(' ')}
      create={{ label: 'New workflow', route: routes.workflows.create, dialog: CreateDialog }}
      path="workflows"
      detail={WorkflowDetail}
      never={{
        title: 'No workflows yet',
        text: (
          <>
            A record starts a workflow. Steps can wait, branch, deliver, store events and run agents. Completed steps
            survive a crash. To create a workflow from a file, run:
            <CommandLine words="workflows create --data @workflow.json" />
          </>
        ),
      }}
    />
  )
}
