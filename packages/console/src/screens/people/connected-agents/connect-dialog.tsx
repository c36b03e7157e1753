import type { ReactElement } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { SetUp } from './set-up.tsx'

/** The way to connect a program. It appears in the list once the person has allowed it. */
export function ConnectDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  return (
    <Dialog
      open
      onClose={onClose}
      title="Connect an agent"
      wide
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <SetUp />
    </Dialog>
  )
}
