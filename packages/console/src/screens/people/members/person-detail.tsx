import type { ReactElement } from 'react'
import { InviteDetail } from './invite-detail.tsx'
import { MemberDetail } from './member-detail.tsx'
import type { Person } from './rows.ts'

/** A member, or an invite. */
export function PersonDetail({ row, onClose }: { readonly row: Person; readonly onClose: () => void }): ReactElement {
  return row.kind === 'member' ? (
    <MemberDetail member={row} onClose={onClose} />
  ) : (
    <InviteDetail invite={row} onClose={onClose} />
  )
}
