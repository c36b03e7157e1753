import type { Column, Edge, Graph, Item } from './graph.ts'

/** Where the items and the edges of a map are, in pixels. Pure. */

export const NODE_HEIGHT = 42
const ROW = 52
const HEAD = 26
const NODE_WIDTH = { min: 136, max: 220 } as const
/** The part of a column that its nodes take. */
const NODE_SHARE = 0.68
const GAP_MIN = 32
const PORT_STEP = 5
const PORTS_HEIGHT = NODE_HEIGHT - 14
/** Columns are centered beside each other up to this many rows. A longer one begins beside their tops. */
const CENTERED_ROWS = 14
const SWEEPS = 4

export type Placed = {
  readonly item: Item
  readonly x: number
  readonly y: number
  readonly column: number
  readonly row: number
}
/** `isLong`: it passes behind the nodes of another column. */
export type Drawn = { readonly edge: Edge; readonly path: string; readonly isBack: boolean; readonly isLong: boolean }
export type Layout = {
  readonly height: number
  readonly nodeWidth: number
  readonly heads: readonly { readonly label: string; readonly x: number }[]
  readonly placed: readonly Placed[]
  readonly drawn: readonly Drawn[]
}

/** The least width in which so many columns are drawn. A narrower map is a list. */
export const leastWidth = (columns: number): number => columns * NODE_WIDTH.min + (columns - 1) * GAP_MIN

export function layoutOf({ columns, edges }: Graph, width: number): Layout {
  const count = Math.max(1, columns.length)
  const nodeWidth = Math.max(NODE_WIDTH.min, Math.min(NODE_WIDTH.max, Math.floor((width / count) * NODE_SHARE)))
  const step = count === 1 ? 0 : (width - nodeWidth) / (count - 1)
  const ordered = inOrder(columns, edges)
  const rows = Math.max(1, ...ordered.map(({ items }) => items.length))
  const placed = ordered.flatMap(({ items }, column) => {
    const top = rows > CENTERED_ROWS ? 0 : ((rows - items.length) * ROW) / 2
    return items.map((item, row) => ({ item, column, row, x: Math.round(column * step), y: HEAD + top + row * ROW }))
  })
  return {
    height: HEAD + rows * ROW - (ROW - NODE_HEIGHT),
    nodeWidth,
    heads: ordered.map(({ label }, column) => ({ label, x: Math.round(column * step) })),
    placed,
    drawn: paths(placed, { edges, nodeWidth }),
  }
}

/** Each item goes near the middle of those that it is connected with, so that few edges cross. The rest of a column stays last. */
function inOrder(columns: readonly Column[], edges: readonly Edge[]): readonly Column[] {
  const near = new Map<string, string[]>()
  const connect = (one: string, other: string): void => void near.set(one, [...(near.get(one) ?? []), other])
  for (const { from, to } of edges) {
    connect(from, to)
    connect(to, from)
  }
  let now = columns
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const share = new Map(
      now.flatMap(({ items }) => items.map(({ key }, row) => [key, (row + 0.5) / items.length] as const)),
    )
    const middle = (key: string): number => {
      const shares = (near.get(key) ?? []).flatMap((other) => share.get(other) ?? [])
      return shares.length === 0 ? (share.get(key) ?? 0) : shares.reduce((sum, one) => sum + one, 0) / shares.length
    }
    now = now.map((column) => ({
      ...column,
      items: blocks(column.items)
        .toSorted((a, b) => rank(a, b, middle))
        .flat(),
    }))
  }
  return now
}

/** An open group stays together with its nodes. */
function blocks(items: readonly Item[]): readonly (readonly Item[])[] {
  const found: Item[][] = []
  let inside = new Set<string>()
  for (const item of items) {
    const last = found.at(-1)
    if (last !== undefined && inside.has(item.key)) last.push(item)
    else found.push([item])
    if (item.isOpen) inside = new Set(item.nodes.map(({ kind, id }) => `${kind}:${id}`))
  }
  return found
}

const level = ([first]: readonly Item[]): number => (first?.type === 'rest' ? 1 : 0)

// oxlint-disable-next-line max-params -- a comparison, and its measure
function rank(a: readonly Item[], b: readonly Item[], middle: (key: string) => number): number {
  return level(a) - level(b) || middle(a[0]?.key ?? '') - middle(b[0]?.key ?? '')
}

type Space = { readonly edges: readonly Edge[]; readonly nodeWidth: number }

/** Curves between the sides of nodes. The edges of one side are spread over it in the order of their other ends. */
function paths(placed: readonly Placed[], { edges, nodeWidth }: Space): readonly Drawn[] {
  const at = new Map(placed.map((one) => [one.item.key, one]))
  const known = edges.flatMap((edge) => {
    const [from, to] = [at.get(edge.from), at.get(edge.to)]
    return from === undefined || to === undefined ? [] : [{ edge, from, to, isBack: to.column <= from.column }]
  })
  const ports = portsOf(known)
  return known.map(({ edge, from, to, isBack }) => {
    const [y1, y2] = [ports.get(`${edge.key} from`) ?? 0, ports.get(`${edge.key} to`) ?? 0]
    const [x1, x2] = isBack ? [from.x, to.x + nodeWidth] : [from.x + nodeWidth, to.x]
    const bend = (x2 - x1) / 2
    const path = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
    return { edge, path, isBack, isLong: Math.abs(to.column - from.column) > 1 }
  })
}

type Known = { readonly edge: Edge; readonly from: Placed; readonly to: Placed; readonly isBack: boolean }

function portsOf(known: readonly Known[]): ReadonlyMap<string, number> {
  const sides = new Map<string, { readonly port: string; readonly own: number; readonly other: number }[]>()
  for (const { edge, from, to, isBack } of known) {
    add(sides, `${from.item.key} ${isBack ? 'left' : 'right'}`, { port: `${edge.key} from`, own: from.y, other: to.y })
    add(sides, `${to.item.key} ${isBack ? 'right' : 'left'}`, { port: `${edge.key} to`, own: to.y, other: from.y })
  }
  const ports = new Map<string, number>()
  for (const side of sides.values()) {
    const step = Math.min(PORT_STEP, PORTS_HEIGHT / side.length)
    for (const [index, { port, own }] of side.toSorted((a, b) => a.other - b.other).entries())
      ports.set(port, own + NODE_HEIGHT / 2 + (index - (side.length - 1) / 2) * step)
  }
  return ports
}

// oxlint-disable-next-line max-params -- a map, a key, and a value
function add<Value>(to: Map<string, Value[]>, key: string, value: Value): void {
  to.set(key, [...(to.get(key) ?? []), value])
}
