import { X } from 'lucide-react'
import type { ReactElement } from 'react'
import { IconButton } from '../ui/button.tsx'
import { Loading, Refused } from '../ui/states.tsx'

/** A panel whose content is being read, or was refused. A narrow window shows only the panel, so it always has its way back. */
export function PanelState({
  label,
  asked: { error, refetch },
  onClose,
}: {
  readonly label: string
  readonly asked: { readonly error: Error | null; readonly refetch: () => unknown }
  readonly onClose: () => void
}): ReactElement {
  return (
    <section aria-label={label} className="relative border-l border-line">
      <div className="absolute top-3 right-3.5 z-1">
        <IconButton label="Close" onClick={onClose}>
          <X strokeWidth={1.5} />
        </IconButton>
      </div>
      {error === null ? <Loading rows={6} /> : <Refused error={error} again={refetch} />}
    </section>
  )
}
