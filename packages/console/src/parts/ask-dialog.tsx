import type { ReactElement, ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { RefusedLine } from '../ui/states.tsx'

type Props = {
  readonly title: string
  /** The text of the button that does it: a verb. */
  readonly verb: string
  readonly disabled?: boolean
  readonly error: Error | null
  readonly onClose: () => void
  readonly onYes: () => void
  /** The effect, and when it happens. */
  readonly children: ReactNode
}

/** Asks before a change that something else depends on. */
export function AskDialog({ title, verb, disabled = false, error, onClose, onYes, children }: Props): ReactElement {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" disabled={disabled} onClick={onYes}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
      <RefusedLine error={error} />
    </Dialog>
  )
}
