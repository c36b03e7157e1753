import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import type { Workflow } from '../../../data/automation-lists.ts'
import { useMay, useRefusal } from '../../../data/place.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { RunDialog } from '../../../parts/workflow/run-dialog.tsx'
import { Button } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { Loading, Refused } from '../../../ui/states.tsx'
import { StateChip } from './columns.tsx'
import { bodyOf, definitionOf, type WholeWorkflow } from './definition.ts'
import { RunsTab } from './runs-tab.tsx'
import { StepsTab } from './steps-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'

const TABS = [
  { id: 'steps', label: 'Steps', of: StepsTab },
  { id: 'runs', label: 'Runs', of: RunsTab },
  { id: 'versions', label: 'Versions', of: VersionsTab },
] as const

/** One workflow: its steps on a canvas, its runs, and its versions. */
export function WorkflowDetail({
  row,
  onClose,
}: {
  readonly row: Workflow
  readonly onClose: () => void
}): ReactElement {
  const [isRunning, setRunning] = useState(false)
  const may = useMay(routes.workflows.replace)
  const refusal = useRefusal(routes.workflows.run)
  const copy = useCopy()
  const { of: Tab } = useTab(TABS)
  const { id, name, active } = row
  const asked = useAsk(['workflows', 'get', id], (client, signal) => client.workflows.get({ id }, { signal }))
  const whole: WholeWorkflow | undefined = asked.data?.workflow
  return (
    <ResourceDetail
      label="Workflow"
      name={name}
      path={`workflows/${id}`}
      chip={<StateChip of={row} />}
      onClose={onClose}
      meta={
        <>
          <span className="whitespace-nowrap">version {row.version}</span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <>
          <Button
            disabled={!may}
            title={may ? 'Starts a run on one stored record' : refusal}
            onClick={() => setRunning(true)}
          >
            Run on a record
          </Button>
          <Switch
            enabled={active}
            route={routes.workflows.replace}
            rooms={['workflows']}
            set={async (client, on) => {
              const { workflow } = await client.workflows.get({ id })
              return client.workflows.replace({ id, ...bodyOf(definitionOf(workflow)), active: on })
            }}
            titles={{
              off: 'Records stop starting runs. This creates a new version.',
              on: 'Each matching record starts a run. This creates a new version.',
            }}
            said={{
              off: 'Turned off. Records do not start runs. Runs in progress continue.',
              on: 'Turned on. Each matching record starts a run.',
            }}
          />
        </>
      }
      items={({ calls, copied, link, remove }) => [
        ...calls,
        {
          label: 'Copy as JSON',
          disabled: whole === undefined,
          go: () =>
            whole !== undefined && void copy(JSON.stringify(definitionOf(whole), null, 2), 'Definition copied as JSON'),
        },
        copied,
        link,
        'line',
        remove,
      ]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: 'Postroad cancels all runs in progress. You can read past runs until their retention expires. Deliveries that runs created are still sent.',
        may,
        rooms: ['workflows', 'workflowInstances'],
        run: (client) => client.workflows.remove({ id }),
      }}
      dialogs={isRunning && <RunDialog workflow={row} onClose={() => setRunning(false)} />}
    >
      {whole !== undefined ? (
        <Tab workflow={whole} />
      ) : asked.error === null ? (
        <Loading rows={6} />
      ) : (
        <Refused error={asked.error} again={asked.refetch} />
      )}
    </ResourceDetail>
  )
}
