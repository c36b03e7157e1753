import { LIMITS } from '@postroad/contract'
import { MAP_KINDS } from '@postroad/contract/map-kinds'
import { Lines } from './lines.ts'
import { addedUp, byUrgency, keyOf, partsOf, type Counts, type Drawn } from './parts.ts'
import type { PartRow } from './queries.ts'
import { drawSettings } from './settings.ts'

/** Makes the map from the settings and the counts; pure. The map is of the present settings, whatever its range is. */
// oxlint-disable-next-line max-params -- the settings, the counts, and the limit
export function draw(
  rows: readonly PartRow[],
  counts: Counts,
  limit: number,
): Pick<Drawn, 'nodes' | 'lines' | 'lines_left_out' | 'omitted'> {
  const parts = partsOf(rows, counts)
  const shown = MAP_KINDS.flatMap((kind) => {
    const nodes = [...parts.values()].flatMap(({ node }) => (node.kind === kind ? [node] : []))
    return nodes.toSorted(byUrgency).slice(0, limit)
  })
  const ends = new Set(shown.map(({ kind, id }) => keyOf(kind, id)))
  const omitted = [...parts.values()].filter(({ node }) => !ends.has(keyOf(node.kind, node.id)))
  const lines = new Lines(parts, ends)
  drawSettings(lines, parts)
  for (const flow of counts.flows) lines.flow(flow)
  const drawn = lines.all().toSorted((a, b) => (b.events ?? 0) - (a.events ?? 0))
  return {
    nodes: shown,
    lines: drawn.slice(0, LIMITS.mapLinesMax),
    lines_left_out: Math.max(0, drawn.length - LIMITS.mapLinesMax),
    omitted: MAP_KINDS.flatMap((kind) =>
      addedUp(
        kind,
        omitted.filter(({ node }) => node.kind === kind),
      ),
    ),
  }
}
