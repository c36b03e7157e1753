import type { Client } from '@postroad/sdk'
import type { ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { RefusedLine } from '../ui/states.tsx'
import { deletionIn, useUndo } from './undo.ts'

/** The way to remove something. */
export type Removal = {
  readonly verb: 'Delete' | 'Revoke' | 'Remove'
  /** The effect, in plain words. */
  readonly text: string
  /** It can be restored for a day, and the message after the removal offers that. */
  readonly restorable?: true
  /** The rooms that are read again after it. */
  readonly rooms: readonly string[]
  readonly run: (client: Client) => Promise<unknown>
}

type Props = {
  readonly name: string
  readonly removal: Removal
  readonly onClose: () => void
  /** Called before anything is read again, because the removed thing is missing afterwards. */
  readonly onRemoved: () => void
}

/** Asks before something is removed, and removes it. */
export function RemoveDialog({ name, removal, onClose, onRemoved }: Props): ReactElement {
  const { verb, text, rooms, run, restorable } = removal
  const offerUndo = useUndo()
  const change = useChange([...rooms, 'deletions'], async (client) => {
    const id = deletionIn(await run(client))
    if (id !== undefined) offerUndo({ name, id, rooms })
    onRemoved()
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${verb} ${name}?`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" disabled={change.isPending} onClick={() => change.mutate(undefined)}>
            {verb}
          </Button>
        </>
      }
    >
      <p className="mb-3 text-ink-2">
        {text}
        {restorable && ' You can restore it for 24 hours.'}
      </p>
      <RefusedLine error={change.error} />
    </Dialog>
  )
}
