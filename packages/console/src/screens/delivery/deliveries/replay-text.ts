import type { RouteAnswer, Routes } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import { outcomeText } from '@postroad/contract/replay-outcome'
import { counted } from '../../../parts/text-list.ts'
import { momentText } from '../../../ui/moments.ts'

type Replay = RouteAnswer<Routes['replays']['list']>['replays'][number]

/** `37 deliveries sent again: 30 delivered, 5 failed, 2 under way; 2 passed over`. */
export function resultText({ replayed, skipped, total, outcome }: Replay): string {
  const left = total === null ? 0 : total - replayed - skipped
  const ends = outcomeText(outcome)
  return [
    `${counted(replayed, 'delivery', 'deliveries')} sent again${ends === '' ? '' : `: ${ends}`}`,
    ...(skipped === 0 ? [] : [`${skipped.toLocaleString('en')} skipped because they had changed`]),
    ...(left > 0 ? [`${left.toLocaleString('en')} not sent`] : []),
  ].join('; ')
}

/** `Failed deliveries to receiver in payments, from Jan 14, 00:00, until Jan 15, 00:00`: the filter of a replay. */
export function filterText({ filter, kind }: Replay, nameOf: (id: string) => string): string {
  const { state, destination_id: destination, from, to, dataset, q, conditions } = filter
  const which = [
    ...(Array.isArray(state) ? [state.map(wordOf).join(' or ')] : []),
    'deliveries',
    typeof destination === 'string' ? `to ${nameOf(destination)}` : 'to all destinations',
    ...(typeof dataset === 'string' ? [`in ${dataset}`] : []),
  ].join(' ')
  const parts = [
    kind === 'recover' ? `Recovery: ${which}` : `${which.charAt(0).toUpperCase()}${which.slice(1)}`,
    ...(typeof from === 'string' ? [`from ${momentText(from)}`] : []),
    ...(typeof to === 'string' ? [`until ${momentText(to)}`] : []),
    ...(typeof q === 'string' ? ['with a search text'] : []),
    ...(Array.isArray(conditions) && conditions.length > 0 ? [counted(conditions.length, 'condition')] : []),
  ]
  return parts.join(', ')
}
