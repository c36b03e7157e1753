import type { RouteAnswer, Routes } from '@postroad/contract'
import { outcomeText } from '@postroad/contract/replay-outcome'
import { counted } from '../../../parts/text-list.ts'

type Replay = RouteAnswer<Routes['replays']['list']>['replays'][number]

const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

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

/** `failed, to receiver, 14 Jan 00:00 to 15 Jan 00:00`: the filter of a replay. */
export function filterText({ filter, kind }: Replay, nameOf: (id: string) => string): string {
  const { state, destination_id: destination, from, to, dataset, q, conditions } = filter
  const parts = [
    ...(Array.isArray(state) ? [state.join(' or ')] : []),
    ...(typeof destination === 'string' ? [`to ${nameOf(destination)}`] : ['to all destinations']),
    ...(typeof dataset === 'string' ? [`of ${dataset}`] : []),
    ...(typeof from === 'string' ? [`from ${momentOf(from)}`] : []),
    ...(typeof to === 'string' ? [`until ${momentOf(to)}`] : []),
    ...(typeof q === 'string' ? ['that contain a search text'] : []),
    ...(Array.isArray(conditions) && conditions.length > 0 ? [counted(conditions.length, 'condition')] : []),
  ]
  return `${kind === 'recover' ? 'Recovery: ' : ''}${parts.join(', ')}`
}

function momentOf(text: string): string {
  return MOMENT.format(new Date(text))
}
