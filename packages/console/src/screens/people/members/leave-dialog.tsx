import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { usePlace } from '../../../data/place.ts'
import { AskDialog } from '../../../parts/ask-dialog.tsx'

/** Ends the membership of the person. The session then works in another of their workspaces. */
export function LeaveDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const { workspace } = usePlace().me
  const leave = useChange([], (client) => client.members.leave({ workspace_id: workspace.id }))
  return (
    <AskDialog
      title={`Leave ${workspace.name}?`}
      verb="Leave"
      disabled={leave.isPending}
      error={leave.error}
      onClose={onClose}
      onYes={() => leave.mutate(undefined, { onSuccess: () => location.assign('/') })}
    >
      <p className="mb-3 text-ink-2">
        You lose access immediately, and the API keys that you created in this workspace are revoked. You need an invite
        to return.
      </p>
    </AskDialog>
  )
}
