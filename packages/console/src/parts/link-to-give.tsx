import type { ReactElement } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { QrCode } from '../ui/qr-code.tsx'
import { SecretOnce } from './secret-once.tsx'

/** The window with a link that nothing emails, to copy or to scan. It shows the link once. */
export function LinkToGive({
  title,
  to,
  link,
  onClose,
}: {
  readonly title: string
  /** Whose link it is. */
  readonly to: string
  readonly link: string
  readonly onClose: () => void
}): ReactElement {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      lead={`This server has no mail server. Give this link to ${to} yourself.`}
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <SecretOnce
        label="Link"
        secret={link}
        note="It works once. Give it to nobody else: whoever opens it first can use it."
      />
      <QrCode text={link} label={`QR code of the link for ${to}`} />
    </Dialog>
  )
}
