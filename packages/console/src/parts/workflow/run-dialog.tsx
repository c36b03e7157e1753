import { useState, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { useGo } from '../../data/go.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { RefusedLine } from '../../ui/states.tsx'
import { CopyAs } from '../copy-as.tsx'
import { RecordChoice } from '../record-choice.tsx'

type Runnable = { readonly id: string; readonly name: string; readonly entry_dataset: string; readonly version: number }

/** Starts a run of a workflow on a stored record, and opens it. */
export function RunDialog({
  workflow: { id, name, entry_dataset, version },
  onClose,
}: {
  readonly workflow: Runnable
  readonly onClose: () => void
}): ReactElement {
  const [chosen, setChosen] = useState('')
  const [typed, setTyped] = useState('')
  const go = useGo()
  const recordId = typed.trim() === '' ? chosen : typed.trim()
  const run = useChange(['workflowInstances'], (client) => client.workflows.run({ id, record_id: recordId }))
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Run ${name}`}
      lead={`Starts version ${version} on one record now. Entry conditions do not apply. The steps take effect: they deliver and store events.`}
      actions={
        <>
          <CopyAs
            className="mr-auto"
            call={
              recordId === ''
                ? undefined
                : { method: 'POST', path: `workflows/${id}/run`, body: { record_id: recordId } }
            }
          />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={recordId === '' || run.isPending}
            onClick={() =>
              run.mutate(undefined, {
                onSuccess: ({ instance }) => {
                  onClose()
                  go('workflow-runs', { sel: instance.id })
                },
              })
            }
          >
            Run
          </Button>
        </>
      }
    >
      <RecordChoice label="Record" dataset={entry_dataset} at={chosen} go={setChosen} />
      <Field
        label="Or enter its ID"
        placeholder="rec_…"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        className="mono text-data"
        hint="A record in any dataset."
      />
      <RefusedLine error={run.error} />
    </Dialog>
  )
}
