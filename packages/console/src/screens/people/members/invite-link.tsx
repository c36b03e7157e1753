import type { ReactElement } from 'react'
import { LinkOnce } from '../../../parts/link-once.tsx'
import { QrCode } from '../../../ui/qr-code.tsx'

/** The link of an invite that nothing emails, to copy or to scan. */
export function InviteLink({
  title,
  email,
  link,
  onClose,
}: {
  readonly title: string
  readonly email: string
  readonly link: string
  readonly onClose: () => void
}): ReactElement {
  return (
    <LinkOnce
      title={title}
      lead={`This server has no mail server. Give this link to ${email} yourself.`}
      link={link}
      note="It works once. Give it to nobody else: whoever opens it first can use it."
      onClose={onClose}
    >
      <QrCode text={link} label={`QR code of the link for ${email}`} />
    </LinkOnce>
  )
}
