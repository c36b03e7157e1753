import type { Client } from '@postroad/sdk'
import type { ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { RefusedLine } from '../ui/states.tsx'

/** The way to remove something. */
export type Removal = {
  readonly verb: 'Delete' | 'Revoke'
  /** The effect, in plain words. */
  readonly text: string
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

/** Asks before something is removed, which cannot be undone, and removes it. */
export function RemoveDialog({ name, removal: { verb, text, rooms, run }, onClose, onRemoved }: Props): ReactElement {
  const change = useChange(rooms, async (client) => {
    await run(client)
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
      <p className="mb-3 text-ink-2">{text}</p>
      <RefusedLine error={change.error} />
    </Dialog>
  )
}
