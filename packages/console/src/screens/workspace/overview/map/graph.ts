import type { MapKind } from '@postroad/contract/map-kinds'
import { groupsOf, groupWord } from './groups.ts'
import type { End, MapAnswer, MapLine, MapNode } from './map-answer.ts'

/** The map as it is drawn: columns of items, which are nodes or groups of nodes, and the edges between them. Pure. */

export const COLUMNS = ['Senders', 'Rules', 'Datasets', 'Automation', 'Destinations'] as const
const COLUMN_OF: Readonly<Record<MapKind, number>> = {
  webhook: 0,
  ingest_key: 0,
  source: 0,
  cron_trigger: 0,
  ws_trigger: 0,
  rule: 1,
  dataset: 2,
  workflow: 3,
  ai_trigger: 3,
  destination: 4,
}
export const columnOf = (kind: MapKind): number => COLUMN_OF[kind]

/** `group`: nodes that are drawn as one until a person opens them. `rest`: nodes that the server left out. */
export type Item = {
  readonly key: string
  readonly type: 'node' | 'group' | 'rest'
  readonly kind: MapKind
  readonly name: string
  /** The dataset that the nodes of a group share, for example. */
  readonly common: string
  readonly nodes: readonly MapNode[]
  /** How many nodes it stands for. */
  readonly size: number
  readonly events: number
  readonly rejected: number
  readonly delivered: number
  readonly failed: number
  readonly held: number
  readonly isOpen: boolean
}

export type Edge = {
  readonly key: string
  readonly from: string
  readonly to: string
  /** null: not known. */
  readonly events: number | null
  readonly configured: boolean
  readonly lines: readonly MapLine[]
}

export type Column = { readonly label: string; readonly items: readonly Item[] }
export type Graph = { readonly columns: readonly Column[]; readonly edges: readonly Edge[] }

/** A column with more nodes than this is folded. */
const UNFOLDED_MAX = 12
/** The most nodes that a folded column draws alone: those with problems or events. */
const ALONE_MAX = 8

export const nodeKey = ({ kind, id }: { readonly kind: MapKind; readonly id: string }): string => `${kind}:${id}`
const restKey = (kind: MapKind): string => `rest:${kind}`
export const endKey = ({ kind, id }: End): string => (id === null ? restKey(kind) : nodeKey({ kind, id }))
export const lineKey = ({ from, to }: Pick<MapLine, 'from' | 'to'>): string => `${endKey(from)} ${endKey(to)}`

export const isTroubled = ({ held, failed, rejected }: MapNode): boolean => held !== null || failed + rejected > 0

/** `open` are the keys of groups that a person opened. */
export function graphOf(map: MapAnswer, open: ReadonlySet<string>): Graph {
  const columns = COLUMNS.map((label, index) => ({ label, items: itemsOf(map, { index, open }) }))
  const shown = columns.filter(({ items }) => items.length > 0)
  return { columns: shown, edges: edgesOf(map, shown) }
}

type Asked = { readonly index: number; readonly open: ReadonlySet<string> }

function itemsOf(map: MapAnswer, { index, open }: Asked): readonly Item[] {
  const nodes = map.nodes.filter(({ kind }) => columnOf(kind) === index).toSorted(byUrgency)
  const rest = map.omitted.filter(({ kind }) => columnOf(kind) === index).map(restOf)
  if (nodes.length + rest.length <= UNFOLDED_MAX) return [...nodes.map(alone), ...rest]
  const urgent = nodes.filter((node) => isTroubled(node) || node.events > 0).slice(0, ALONE_MAX)
  const drawn = new Set(urgent)
  const groups = groupsOf(
    nodes.filter((node) => !drawn.has(node)),
    map,
  ).flatMap(({ key, label, common, nodes: members }) => {
    const [first] = members
    if (first === undefined) return []
    if (members.length === 1) return [alone(first)]
    const group = groupOf({ key, label, common, members, first, isOpen: open.has(key) })
    return group.isOpen ? [group, ...members.map(alone)] : [group]
  })
  return [...urgent.map(alone), ...groups, ...rest]
}

function byUrgency(a: MapNode, b: MapNode): number {
  return (
    Number(isTroubled(b)) - Number(isTroubled(a)) ||
    b.events + b.failed + b.rejected - (a.events + a.failed + a.rejected) ||
    Number(b.enabled) - Number(a.enabled)
  )
}

function alone(node: MapNode): Item {
  const { kind, name, events, rejected, delivered, failed, held } = node
  const sums = { events, rejected, delivered, failed, held: held?.deliveries ?? 0 }
  return { key: nodeKey(node), type: 'node', kind, name, common: '', nodes: [node], size: 1, ...sums, isOpen: false }
}

type Made = {
  readonly key: string
  readonly label: string
  readonly common: string
  readonly members: readonly MapNode[]
  readonly first: MapNode
  readonly isOpen: boolean
}

function groupOf({ key, label, common, members, first, isOpen }: Made): Item {
  const sum = (of: (node: MapNode) => number): number => members.reduce((total, node) => total + of(node), 0)
  return {
    key,
    type: 'group',
    kind: first.kind,
    name: label,
    common,
    nodes: members,
    size: members.length,
    events: sum(({ events }) => events),
    rejected: sum(({ rejected }) => rejected),
    delivered: sum(({ delivered }) => delivered),
    failed: sum(({ failed }) => failed),
    held: sum(({ held }) => held?.deliveries ?? 0),
    isOpen,
  }
}

function restOf({ kind, nodes: size, ...sums }: MapAnswer['omitted'][number]): Item {
  const name = `${size.toLocaleString('en')} more ${groupWord(kind, size)}`
  return { key: restKey(kind), type: 'rest', kind, name, common: '', nodes: [], size, ...sums, held: 0, isOpen: false }
}

/** Lines between the same two items are one edge. */
function edgesOf({ lines }: MapAnswer, columns: readonly Column[]): readonly Edge[] {
  const itemOf = new Map<string, string>()
  for (const item of columns.flatMap(({ items }) => items)) {
    if (item.type === 'rest') itemOf.set(item.key, item.key)
    // The nodes of an open group are items themselves.
    else if (!item.isOpen) for (const node of item.nodes) itemOf.set(nodeKey(node), item.key)
  }
  const edges = new Map<string, Edge>()
  for (const line of lines) {
    const [from, to] = [itemOf.get(endKey(line.from)), itemOf.get(endKey(line.to))]
    if (from === undefined || to === undefined) continue
    const key = `${from} ${to}`
    const edge = edges.get(key)
    edges.set(key, {
      key,
      from,
      to,
      events: added(edge?.events, line.events),
      configured: line.configured || (edge?.configured ?? false),
      lines: [...(edge?.lines ?? []), line],
    })
  }
  return [...edges.values()]
}

/** Adds what is known. */
function added(sum: number | null | undefined, events: number | null): number | null {
  if (sum === undefined || sum === null) return events
  return sum + (events ?? 0)
}

/** The items from which events reach this one, and those that its events reach. */
export function traceOf(edges: readonly Edge[], key: string): ReadonlySet<string> {
  const found = new Set([key])
  for (const one of reached(edges, { key, near: 'from', far: 'to' })) found.add(one)
  for (const one of reached(edges, { key, near: 'to', far: 'from' })) found.add(one)
  return found
}

type Way = { readonly key: string; readonly near: 'from' | 'to'; readonly far: 'from' | 'to' }

function reached(edges: readonly Edge[], { key, near, far }: Way): ReadonlySet<string> {
  const seen = new Set([key])
  const waiting = [key]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const next = edges.flatMap((edge) => (edge[near] === at && !seen.has(edge[far]) ? [edge[far]] : []))
    for (const one of next) seen.add(one)
    waiting.push(...next)
  }
  return seen
}
