import type { ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { toneOf } from '../data/tone.ts'
import type { Delivery } from '../data/tail.ts'
import { NONE, type Tone } from '../ui/glyph.tsx'

const LAST = 20
const POLL_MS = 15_000

const BARS: Readonly<Record<Tone, string>> = {
  ok: 'h-2.5 bg-ok-quiet',
  retry: 'h-3.5 bg-retry',
  fail: 'h-3.5 bg-fail',
  rejected: 'h-1.5 bg-ink-4',
  sending: 'h-2.5 bg-accent',
  paused: 'h-1.5 shadow-[inset_0_0_0_1px_var(--ink-4)]',
  none: 'h-1.5 bg-line-2',
}

/** The last deliveries to a destination. */
export function useRecent(destinationId: string): readonly Delivery[] | undefined {
  return useAsk(
    ['deliveries', 'recent', destinationId],
    (client, signal) => client.deliveries.list({ destination_id: destinationId, limit: LAST }, { signal }),
    { everyMs: POLL_MS },
  ).data?.deliveries
}

/** One bar for each of the last deliveries, the newest at the right end: height and color distinguish failures. */
export function Recent({ destinationId }: { readonly destinationId: string }): ReactElement | null {
  const recent = useRecent(destinationId)
  if (recent === undefined) return null
  return <RecentBars of={recent.map(toneOf)} label={recentText(recent)} />
}

/** One bar for each. The list has the newest first; the drawing has it at the right end. */
export function RecentBars({ of, label }: { readonly of: readonly Tone[]; readonly label: string }): ReactElement {
  if (of.length === 0) return NONE
  return (
    <span role="img" aria-label={label} title={label} className="flex h-4 items-end gap-[2px]">
      {of.toReversed().map((tone, index) => (
        <i key={index} className={`w-[4px] rounded-[1px] ${BARS[tone]}`} />
      ))}
    </span>
  )
}

/** "18 of the last 20 delivered". */
export function recentText(recent: readonly Pick<Delivery, 'state'>[]): string {
  const delivered = recent.filter(({ state }) => state === 'delivered').length
  return `${delivered} of the last ${recent.length} delivered`
}
