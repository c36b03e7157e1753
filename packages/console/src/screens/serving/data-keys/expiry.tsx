import type { ReactElement } from 'react'
import type { DataKey } from '../../../data/serving-lists.ts'
import { Countdown } from '../../../ui/time.tsx'

/** When a key expires: "in 3 days", expired or never. */
export function Expiry({ of: { expires_at, status } }: { readonly of: DataKey }): ReactElement {
  if (expires_at === null) return <span className="text-ink-3">never</span>
  return status === 'expired' ? (
    <span className="text-fail">expired</span>
  ) : (
    <span className="text-data text-ink-2">
      <Countdown to={expires_at} />
    </span>
  )
}
