import type { ReactElement } from 'react'
import { RecentBars } from '../../../parts/recent.tsx'
import type { Tone } from '../../../ui/glyph.tsx'
import { useActivity } from './use-activity.ts'

export const TONES: Readonly<Record<string, Tone>> = {
  delivered: 'ok',
  failed: 'fail',
  retrying: 'retry',
  paused: 'paused',
  pending: 'sending',
  cancelled: 'rejected',
  none: 'none',
}

/** One bar for each of the last requests, including refused ones; the newest at the right end. */
export function RecentActivity({ id }: { readonly id: string }): ReactElement | null {
  const rows = useActivity(id)?.rows
  if (rows === undefined) return null
  const refused = rows.filter(({ kind }) => kind === 'rejected').length
  return (
    <RecentBars
      of={rows.map(({ kind, forward_status }) =>
        kind === 'rejected' ? 'rejected' : (TONES[forward_status] ?? 'none'),
      )}
      label={`${rows.length - refused} received and ${refused} refused of the last ${rows.length}`}
    />
  )
}
