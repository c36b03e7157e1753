import { holdText } from '@postroad/contract/holds'
import type { Span } from '../../../../parts/span.ts'
import { lineKey, nodeKey } from './graph.ts'
import type { End, MapAnswer, MapLine, MapNode } from './map-answer.ts'
import { groupWord } from './groups.ts'
import { count, lineTarget, shareText, type Target } from './words.ts'

/** The lines of a map as rows: for narrow windows, and for people who read a table. Pure. */

export type Flow = {
  readonly key: string
  readonly from: string
  readonly to: string
  readonly part: (typeof PARTS)[number]
  readonly events: number | null
  /** The share of attempts at the destination that failed; empty: none. */
  readonly share: string
  /** The deliveries that the destination holds back now, and why. */
  readonly held: string
  readonly target: Target
}

export const PARTS = ['To rules and datasets', 'To workflows and AI agents', 'To destinations'] as const

type Shown = { readonly span: Span; readonly isPast: boolean }

/** Lines with problems first, then those with the most events. */
export function flowsOf(map: MapAnswer, { span, isPast }: Shown): readonly Flow[] {
  const nodes = new Map(map.nodes.map((node) => [nodeKey(node), node]))
  const omitted = new Map(map.omitted.map((one) => [one.kind, one.nodes]))
  const found = (end: End): MapNode | undefined =>
    end.id === null ? undefined : nodes.get(nodeKey({ ...end, id: end.id }))
  const nameOf = (end: End): string => {
    const size = omitted.get(end.kind) ?? 0
    return found(end)?.name ?? `${count(size)} more ${groupWord(end.kind, size)}`
  }
  return map.lines
    .map((line) => {
      const to = found(line.to)
      return {
        key: lineKey(line),
        from: nameOf(line.from),
        to: nameOf(line.to),
        part: partOf(line),
        events: line.events,
        share: to === undefined || line.events === 0 ? '' : shareText(to),
        held: isPast ? '' : heldText(to?.held ?? null),
        target: lineTarget(line, span),
      }
    })
    .toSorted((a, b) => urgency(b) - urgency(a) || (b.events ?? 0) - (a.events ?? 0))
}

const urgency = ({ share, held }: Flow): number => (held === '' ? 0 : 2) + (share === '' ? 0 : 1)

function heldText(held: MapNode['held']): string {
  return held === null ? '' : `${count(held.deliveries)}${held.more ? '+' : ''}: ${holdText(held)}`
}

function partOf({ to }: MapLine): Flow['part'] {
  if (to.kind === 'destination') return 'To destinations'
  return to.kind === 'workflow' || to.kind === 'ai_trigger' ? 'To workflows and AI agents' : 'To rules and datasets'
}
