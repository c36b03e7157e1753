import type { MapKind } from '@postroad/contract/map-kinds'
import type { MapAnswer, MapNode } from './map-answer.ts'

/** How the nodes of a long column are grouped: destinations by the dataset that they take, all others by their kind. */

const WORDS: Readonly<Record<MapKind, readonly [one: string, many: string]>> = {
  webhook: ['endpoint', 'endpoints'],
  ingest_key: ['ingest key', 'ingest keys'],
  source: ['source', 'sources'],
  cron_trigger: ['schedule', 'schedules'],
  ws_trigger: ['WebSocket', 'WebSockets'],
  rule: ['rule', 'rules'],
  dataset: ['dataset', 'datasets'],
  workflow: ['workflow', 'workflows'],
  ai_trigger: ['AI trigger', 'AI triggers'],
  destination: ['destination', 'destinations'],
}

export const kindWord = (kind: MapKind): string => WORDS[kind][0]
export const groupWord = (kind: MapKind, size: number): string => WORDS[kind][size === 1 ? 0 : 1]

export type Group = {
  readonly key: string
  readonly label: string
  /** The dataset that its nodes share; empty: they share only their kind. */
  readonly common: string
  readonly nodes: readonly MapNode[]
}
type Found = Pick<Group, 'key' | 'common' | 'nodes'>

/** The most groups of destinations. The smallest ones form the last group. */
const GROUPS_MAX = 5

export function groupsOf(nodes: readonly MapNode[], map: MapAnswer): readonly Group[] {
  const taken = datasetsOf(map)
  const byGroup = new Map<string, { readonly common: string; readonly nodes: MapNode[] }>()
  for (const node of nodes) {
    const common = commonOf(node, taken)
    const key = `group:${node.kind}:${common}`
    const group = byGroup.get(key) ?? { common, nodes: [] }
    group.nodes.push(node)
    byGroup.set(key, group)
  }
  const groups = [...byGroup]
    .map(([key, group]) => ({ key, ...group }))
    .toSorted((a, b) => b.nodes.length - a.nodes.length)
  if (groups.length <= GROUPS_MAX) return groups.map(counted)
  const small = groups.slice(GROUPS_MAX - 1).flatMap((group) => group.nodes)
  const kind = small[0]?.kind ?? 'destination'
  return [...groups.slice(0, GROUPS_MAX - 1), { key: `group:${kind}:`, common: 'other datasets', nodes: small }].map(
    counted,
  )
}

function counted({ key, common, nodes }: Found): Group {
  const kind = nodes[0]?.kind ?? 'destination'
  return { key, nodes, common, label: `${nodes.length} ${groupWord(kind, nodes.length)}` }
}

function commonOf({ kind, id }: MapNode, taken: ReadonlyMap<string, ReadonlySet<string>>): string {
  if (kind !== 'destination') return ''
  const datasets = [...(taken.get(id) ?? [])]
  if (datasets.length === 0) return ''
  return datasets.length === 1 ? (datasets[0] ?? '') : 'several datasets'
}

/** The datasets that each destination takes. */
function datasetsOf({ lines }: MapAnswer): ReadonlyMap<string, ReadonlySet<string>> {
  const taken = new Map<string, Set<string>>()
  for (const { from, to, configured } of lines) {
    if (!configured || to.kind !== 'destination' || to.id === null || from.kind !== 'dataset' || from.id === null)
      continue
    const datasets = taken.get(to.id) ?? new Set<string>()
    taken.set(to.id, datasets.add(from.id))
  }
  return taken
}
