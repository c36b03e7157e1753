import { deliveryLight } from '@postroad/contract/lights'
import type { ReactElement } from 'react'
import { RecentBars } from '../../../parts/recent.tsx'
import type { Tone } from '../../../ui/glyph.tsx'
import { useActivity, type ActivityRow } from './use-activity.ts'

type Progress = Pick<ActivityRow, 'kind' | 'forward_status' | 'held_by'>

/** The light of a request to an endpoint: that of its deliveries. A failed delivery outranks one that is held back. */
export function activityLight({ kind, forward_status: state, held_by }: Progress): { tone: Tone; word: string } {
  if (kind === 'rejected') return { tone: 'rejected', word: 'rejected' }
  if (state === 'none') return { tone: 'none', word: 'stored' }
  return deliveryLight({ state, held_by: state === 'failed' ? null : held_by })
}

/** One bar for each of the last requests, including rejected ones; the newest at the right end. */
export function RecentActivity({ id }: { readonly id: string }): ReactElement | null {
  const rows = useActivity(id)?.rows
  if (rows === undefined) return null
  const rejected = rows.filter(({ kind }) => kind === 'rejected').length
  return (
    <RecentBars
      of={rows.map((row) => activityLight(row).tone)}
      label={`${rows.length - rejected} received and ${rejected} rejected of the last ${rows.length}`}
    />
  )
}
