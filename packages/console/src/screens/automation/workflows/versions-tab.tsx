import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { JsonDiff } from '../../../parts/json-diff.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Loading, Refused, RefusedLine } from '../../../ui/states.tsx'
import { definitionOf, isSame, type Definition, type WholeWorkflow } from './definition.ts'
import { ReplaceDialog } from './replace-dialog.tsx'

/** The stored versions of a workflow. A version never changes; restoring one stores a new version. */
export function VersionsTab({ workflow }: { readonly workflow: WholeWorkflow }): ReactElement {
  const { id } = workflow
  const [open, setOpen] = useState<number | undefined>()
  const [restored, setRestored] = useState<Definition | undefined>()
  const asked = useAsk(['workflows', 'versions', id], (client, signal) =>
    client.workflows.listVersions({ id, limit: 200 }, { signal }),
  )
  if (asked.data === undefined)
    return asked.error === null ? <Loading rows={5} /> : <Refused error={asked.error} again={asked.refetch} />
  return (
    <>
      <ol aria-label="Versions">
        {asked.data.versions.map(({ version, created_at }) => (
          <li key={version} className="flex min-h-11 items-center gap-3 border-b border-line/55 px-5">
            <span className="mono w-10 text-data text-ink-3">v{version}</span>
            <span className="min-w-0 flex-1 text-ink-2">
              saved <Ago at={created_at} />
            </span>
            {version === workflow.version ? (
              <span className="text-right text-ink-3">current</span>
            ) : (
              <Button onClick={() => setOpen(version)}>Compare</Button>
            )}
          </li>
        ))}
      </ol>
      <p className="px-5 py-3 text-data text-ink-3">
        Postroad deletes an old version once no stored run uses it.
        {asked.data.next_cursor !== null && ' The newest 200 are shown.'}
      </p>
      {open !== undefined && (
        <VersionDialog
          workflow={workflow}
          version={open}
          onClose={() => setOpen(undefined)}
          onRestore={(definition) => {
            setOpen(undefined)
            setRestored(definition)
          }}
        />
      )}
      {restored !== undefined && (
        <ReplaceDialog
          id={id}
          definition={restored}
          title={`Restore an older version of ${workflow.name}?`}
          onClose={() => setRestored(undefined)}
        />
      )}
    </>
  )
}

function VersionDialog({
  workflow,
  version,
  onClose,
  onRestore,
}: {
  readonly workflow: WholeWorkflow
  readonly version: number
  readonly onClose: () => void
  readonly onRestore: (definition: Definition) => void
}): ReactElement {
  const refusal = useRefusal(routes.workflows.replace)
  const may = refusal === undefined
  const asked = useAsk(['workflows', 'version', workflow.id, version], (client, signal) =>
    client.workflows.getVersion({ id: workflow.id, version: String(version) }, { signal }),
  )
  const now = definitionOf(workflow)
  // A version does not contain the slug and the state, so the current ones stay.
  const then = asked.data && definitionOf({ ...now, ...asked.data.version })
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Version ${version}`}
      lead={`Differences from version ${workflow.version}.`}
      actions={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button
            kind="primary"
            disabled={!may || then === undefined || isSame(then, now)}
            title={may ? 'Shows the change before you save it' : refusal}
            onClick={() => then !== undefined && onRestore(then)}
          >
            Restore
          </Button>
        </>
      }
    >
      {asked.error !== null && <RefusedLine error={asked.error} />}
      {then !== undefined &&
        (isSame(then, now) ? (
          <p className="mb-3 text-ink-2">This version is the same as the current one.</p>
        ) : (
          <JsonDiff label={`Differences in version ${version}`} before={now} after={then} />
        ))}
    </Dialog>
  )
}
