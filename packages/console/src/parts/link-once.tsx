import type { ReactElement, ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SecretOnce } from './secret-once.tsx'

/** A window that shows a link once, because no email contains it. */
export function LinkOnce({
  title,
  lead,
  link,
  note,
  action,
  onClose,
  children,
}: {
  readonly title: string
  readonly lead: string
  readonly link: string
  /** A sentence about its use. */
  readonly note: string
  /** Beside the button that closes the window. */
  readonly action?: ReactNode
  readonly onClose: () => void
  /** Below the link. */
  readonly children: ReactNode
}): ReactElement {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      lead={lead}
      actions={
        <>
          {action}
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <SecretOnce label="Link" secret={link} note={note} />
      {children}
    </Dialog>
  )
}
