import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphOf, nodeKey, traceOf } from '../../src/screens/workspace/overview/map/graph.ts'
import type { MapAnswer, MapNode } from '../../src/screens/workspace/overview/map/map-answer.ts'
import { layoutOf, NODE_HEIGHT } from '../../src/screens/workspace/overview/map/layout.ts'
import { rateText, shareText } from '../../src/screens/workspace/overview/map/words.ts'

const NONE: ReadonlySet<string> = new Set()

function node(kind: MapNode['kind'], id: string, events = 0): MapNode {
  const counts = { events, rejected: 0, delivered: events, failed: 0 }
  return { id, kind, name: id, enabled: true, ...counts, held: null, detail: null }
}

const datasetOf = (index: number): string => (index % 2 === 0 ? 'even' : 'odd')

const hub = (index: number) => ({ kind: 'dataset', id: datasetOf(index) }) as const

/** A map of senders and receivers of two datasets; the first sender and the first receiver have events. */
function mapOf(size: number): MapAnswer {
  const ids = Array.from({ length: size }, (_none, index) => index)
  return {
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-01T01:00:00.000Z',
    counted_at: null,
    lines_since: null,
    first_at: null,
    nodes: [
      ...ids.map((index) => node('webhook', `w${index}`, index === 0 ? 60 : 0)),
      node('dataset', 'even', 60),
      node('dataset', 'odd'),
      ...ids.map((index) => node('destination', `d${index}`, index === 0 ? 60 : 0)),
    ],
    lines: ids.flatMap((index) => [
      {
        from: { kind: 'webhook', id: `w${index}` },
        to: hub(index),
        events: index === 0 ? 60 : 0,
        configured: true,
      } as const,
      {
        from: hub(index),
        to: { kind: 'destination', id: `d${index}` },
        events: index === 0 ? 60 : 0,
        configured: true,
      } as const,
    ]),
    lines_left_out: 0,
    omitted: [{ kind: 'destination', nodes: 9_800, events: 4, rejected: 0, delivered: 4, failed: 0 }],
  }
}

test('a small map shows every node, and the nodes that the server left out as one', () => {
  const { columns } = graphOf(mapOf(5), NONE)
  assert.deepEqual(
    columns.map(({ label, items }) => [label, items.length]),
    [
      ['Senders', 5],
      ['Datasets', 2],
      ['Destinations', 6],
    ],
  )
  assert.equal(columns[2]?.items.at(-1)?.name, '9,800 more destinations')
})

test('a long column is folded: nodes with events alone, senders by kind, destinations by their dataset; no event is lost', () => {
  const map = mapOf(150)
  const { columns, edges } = graphOf(map, NONE)
  assert.deepEqual(
    columns.map(({ items }) =>
      items.map(({ name, common }) => [name, common].filter((text) => text !== '').join(' of ')),
    ),
    [
      ['w0', '149 endpoints'],
      ['even', 'odd'],
      ['d0', '75 destinations of odd', '74 destinations of even', '9,800 more destinations'],
    ],
  )
  const sum = edges.reduce((total, { events }) => total + (events ?? 0), 0)
  assert.equal(sum, 120)
  assert.equal(edges.length, 6, 'lines of a group are one edge')
})

test('an open group shows its nodes, each with its own edges', () => {
  const { columns, edges } = graphOf(mapOf(150), new Set(['group:webhook:']))
  assert.equal(columns[0]?.items.length, 151)
  assert.ok(edges.some(({ from, to }) => from === 'webhook:w77' && to === 'dataset:odd'))
})

test('no two nodes overlap, every edge has a curve, and columns stay inside of the width', () => {
  for (const width of [700, 1_180]) {
    const { placed, drawn, nodeWidth } = layoutOf(graphOf(mapOf(150), new Set(['group:webhook:'])), width)
    const seen = new Set<string>()
    for (const { x, y } of placed) {
      assert.ok(x + nodeWidth <= width + 1)
      assert.ok(!seen.has(`${x} ${y}`))
      seen.add(`${x} ${y}`)
    }
    const first = placed.filter(({ column }) => column === 0).map(({ y }) => y)
    for (const [index, y] of first.toSorted((a, b) => a - b).entries())
      if (index > 0) assert.ok(y - (first.toSorted((a, b) => a - b)[index - 1] ?? 0) >= NODE_HEIGHT)
    for (const { path } of drawn) assert.match(path, /^M[\d.]+ [\d.]+C/)
  }
})

test('the trace of a node is all that feeds it and all that it feeds, and nothing beside it', () => {
  const { edges } = graphOf(mapOf(5), NONE)
  const trace = traceOf(edges, nodeKey({ kind: 'webhook', id: 'w1' }))
  assert.deepEqual([...trace].toSorted(), ['dataset:odd', 'destination:d1', 'destination:d3', 'webhook:w1'])
})

test('a rate has the unit in which it is at least one, and a small share of failures is never 0%', () => {
  assert.deepEqual(
    [rateText(600, 60), rateText(90, 60), rateText(3, 60), rateText(1, 1_440), rateText(0, 60)],
    ['10/min', '1.5/min', '3/h', '1/day', '–'],
  )
  assert.deepEqual(
    [
      { delivered: 999, failed: 1 },
      { delivered: 0, failed: 3 },
      { delivered: 1, failed: 999 },
      { delivered: 3, failed: 0 },
    ].map(shareText),
    ['<1% fail', '100% fail', '99% fail', ''],
  )
})
