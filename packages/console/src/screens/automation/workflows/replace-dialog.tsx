import type { ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { JsonDiff } from '../../../parts/json-diff.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Loading, RefusedLine } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { bodyOf, definitionOf, isSame, type Definition } from './definition.ts'

/** Shows how a definition differs from the one that is stored now, and replaces it. */
export function ReplaceDialog({
  id,
  definition,
  title = 'Save a new version?',
  onClose,
  onSaved,
}: {
  readonly id: string
  readonly definition: Definition
  readonly title?: string
  readonly onClose: () => void
  readonly onSaved?: () => void
}): ReactElement {
  const toast = useToast()
  // The dialog reads it again, because another person may have replaced it since the page read it.
  const asked = useAsk(['workflows', 'get', id, 'now'], (client, signal) => client.workflows.get({ id }, { signal }))
  const replace = useChange(['workflows'], (client) => client.workflows.replace({ id, ...bodyOf(definition) }))
  const stored = asked.data?.workflow
  const isEqual = stored !== undefined && isSame(definitionOf(stored), definition)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={title}
      lead="Saving replaces the whole definition. Runs in progress continue with the version that they started with."
      actions={
        <>
          <CopyAs call={{ method: 'PUT', path: `workflows/${id}`, body: bodyOf(definition) }} className="mr-auto" />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={stored === undefined || isEqual || replace.isPending}
            onClick={() =>
              replace.mutate(undefined, {
                onSuccess: () => {
                  toast({ text: `Saved version ${(stored?.version ?? 0) + 1}. It applies to the next record.` })
                  onSaved?.()
                  onClose()
                },
              })
            }
          >
            {stored === undefined ? 'Save' : `Save version ${stored.version + 1}`}
          </Button>
        </>
      }
    >
      {asked.error !== null && <RefusedLine error={asked.error} />}
      {stored === undefined && asked.error === null && <Loading rows={4} height={24} />}
      {stored !== undefined &&
        (isEqual ? (
          <p className="mb-3 text-ink-2">
            The definition is the same as version {stored.version}, so there is nothing to save.
          </p>
        ) : (
          <JsonDiff
            label={`Differences from version ${stored.version}`}
            before={definitionOf(stored)}
            after={definition}
          />
        ))}
      <RefusedLine error={replace.error} />
    </Dialog>
  )
}
