import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Names } from './deliveries-table.ts'
import { plain } from './text/plain.ts'
import { style } from './text/style.ts'
import { fields } from './text/table.ts'

type Plan = RouteAnswer<Routes['replays']['create']>['plan']
type Replay = RouteAnswer<Routes['replays']['get']>['replay']

const DESTINATIONS_SHOWN = 5

/** The plan of a replay, before anything is sent. */
export function planText(
  { count, complete, bytes, minutes, duplicates, allowance, destinations }: Plan,
  { names, notes }: { readonly names: Names; readonly notes: readonly (readonly [string, string])[] },
): string {
  const shown = destinations
    .slice(0, DESTINATIONS_SHOWN)
    .map(({ id, count: each }) => `${each}  ${plain(names.get(id) ?? id)}`)
  const rest = destinations.length - shown.length
  return fields([
    ['Deliveries', `${complete ? '' : 'at least '}${count}`],
    ['Repeats', duplicates === 0 ? 'none' : `${duplicates}  ${style.dim('were delivered before')}`],
    ['Payloads', bytesText(bytes)],
    ['Takes', minutes < 1 ? 'under a minute' : `about ${Math.ceil(minutes)} min`],
    ...(allowance === null ? [] : [['Allowance', allowanceText(allowance)] as const]),
    ...(shown.length === 0
      ? []
      : [['To', [...shown, ...(rest === 0 ? [] : [`and ${rest} more`])].join('\n')] as const]),
    ...notes,
  ])
}

function allowanceText({ left, suffices }: NonNullable<Plan['allowance']>): string {
  if (left === 0) return `none left  ${style.dim('the monthly delivery quota is used up')}`
  return `${left} left  ${style.dim(suffices ? 'enough for all of them' : 'it pauses when they are used up, then resumes')}`
}

/** `120 of 4000`. */
export function progressText({ replayed, total }: Pick<Replay, 'replayed' | 'total'>): string {
  return total === null ? String(replayed) : `${replayed} of ${total}`
}

function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`
}
