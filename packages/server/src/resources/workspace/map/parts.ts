import { encodeId, type IdKind, type RouteOutput, type Routes } from '@postroad/contract'
import type { MapKind } from '@postroad/contract/map-kinds'
import { NIL, type FlowSums, type OutcomeSums } from '../rollups/index.ts'
import type { PartRow } from './queries.ts'

/** The parts of a project as nodes of its map, with their counts; pure. */

export type Drawn = RouteOutput<Routes['map']['get']>['map']
export type Node = Drawn['nodes'][number]

export type Counts = {
  readonly flows: readonly FlowSums[]
  readonly outcomes: readonly OutcomeSums[]
  /** By the id of the destination. */
  readonly holds: ReadonlyMap<string, NonNullable<Node['held']>>
}

const ID_KINDS: Readonly<Record<Exclude<MapKind, 'dataset'>, IdKind>> = {
  webhook: 'webhook',
  ingest_key: 'ingestKey',
  source: 'source',
  cron_trigger: 'cronTrigger',
  ws_trigger: 'wsTrigger',
  rule: 'rule',
  workflow: 'workflow',
  ai_trigger: 'aiTrigger',
  destination: 'destination',
}
const shownId = (kind: MapKind, id: string): string => (kind === 'dataset' ? id : encodeId(ID_KINDS[kind], id))

export type Part = PartRow & { readonly node: Node }
/** Parts by kind and id. */
export type Parts = ReadonlyMap<string, Part>
export const keyOf = (kind: string, id: string): string => `${kind} ${id}`

type Sums = { readonly events: number; readonly rejected: number }
const NONE: Sums = { events: 0, rejected: 0 }

/** The counts of each node. */
function sumsOf(flows: readonly FlowSums[]): ReadonlyMap<string, Sums> {
  const counted = new Map<string, Sums>()
  const add = (key: string, { events = 0, rejected = 0 }: Partial<Sums>): void => {
    const sum = counted.get(key) ?? NONE
    counted.set(key, { events: sum.events + events, rejected: sum.rejected + rejected })
  }
  for (const { way, node_kind, node_id, rule_id, dataset, events } of flows) {
    const key = keyOf(node_kind, node_id)
    if (way === 'refused') add(key, { rejected: events })
    if (way === 'received' || way === 'out') add(key, { events })
    if (way !== 'in') continue
    add(keyOf('dataset', dataset), { events })
    if (rule_id !== NIL) add(keyOf('rule', rule_id), { events })
  }
  return counted
}

/** The parts with their counts, and the datasets that only settings or records name. */
export function partsOf(rows: readonly PartRow[], { flows, outcomes, holds }: Counts): Parts {
  const counted = sumsOf(flows)
  const known = new Map(outcomes.map((row) => [row.destination_id, row]))
  const parts = new Map<string, Part>()
  for (const row of [...rows, ...datasetsIn(rows, flows)]) {
    const { kind, id, name, enabled, detail } = row
    const key = keyOf(kind, id)
    if (parts.has(key)) continue
    const { succeeded: delivered = 0, failed = 0 } = known.get(id) ?? {}
    const held = holds.get(id) ?? null
    const sums = counted.get(key) ?? NONE
    parts.set(key, {
      ...row,
      node: { id: shownId(kind, id), kind, name, enabled, ...sums, delivered, failed, held, detail },
    })
  }
  return parts
}

function datasetsIn(rows: readonly PartRow[], flows: readonly FlowSums[]): readonly PartRow[] {
  const names = rows.flatMap(({ files, takes }) => [...files, ...(takes ?? [])])
  const filed = flows.flatMap(({ dataset }) => (dataset === '' ? [] : [dataset]))
  return [...new Set([...names, ...filed])].map((name) => ({ ...DATASET, id: name, name }))
}

const DATASET = {
  kind: 'dataset',
  enabled: true,
  files: [],
  takes: [],
  detail: null,
  delivers: [],
  is_customers: false,
} as const

/** Problems first, then the most events, then the parts that are on. */
export function byUrgency(a: Node, b: Node): number {
  const trouble = ({ held, failed, rejected }: Node): number => (held !== null || failed + rejected > 0 ? 1 : 0)
  return (
    trouble(b) - trouble(a) ||
    b.events + b.failed + b.rejected - (a.events + a.failed + a.rejected) ||
    Number(b.enabled) - Number(a.enabled) ||
    (a.name < b.name ? -1 : 1)
  )
}

export function addedUp(kind: MapKind, parts: readonly Part[]): Drawn['omitted'] {
  if (parts.length === 0) return []
  const sum = (of: (node: Node) => number): number => parts.reduce((total, { node }) => total + of(node), 0)
  return [
    {
      kind,
      nodes: parts.length,
      events: sum(({ events }) => events),
      rejected: sum(({ rejected }) => rejected),
      delivered: sum(({ delivered }) => delivered),
      failed: sum(({ failed }) => failed),
    },
  ]
}
