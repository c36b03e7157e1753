import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Step } from '@postroad/contract'
import {
  changed,
  duplicateOf,
  idsIn,
  inserted,
  moved,
  newNode,
  nodeIn,
  nodesOf,
  placedIn,
  removed,
  stepsOf,
  TOP,
  untakenIn,
  withArm,
} from '../../src/parts/workflow/tree.ts'

const emit = (id: string): Step => ({ id, type: 'emit_event', dataset: 'orders', on_error: 'fail' })
const STEPS: readonly Step[] = [
  { id: 'pause', type: 'delay', seconds: 60 },
  {
    id: 'decide',
    type: 'branch',
    input: 'payload',
    branches: [
      { name: 'big', conditions: [{ path: 'total', op: 'gt', value: 10 }], steps: [emit('one'), emit('two')] },
      { name: 'small', conditions: [], steps: [] },
    ],
    else: [emit('other')],
  },
  emit('last'),
]

const keyOf = (nodes: ReturnType<typeof nodesOf>, id: string): string =>
  placedIn(nodes).find(({ node }) => node.step.id === id)?.node.key ?? ''

test('the console sends a definition unchanged if nobody edited it', () => {
  assert.deepEqual(stepsOf(nodesOf(STEPS)), STEPS)
})

test('each step has its place in the definition, and a refusal belongs to the step that it names', () => {
  const nodes = nodesOf(STEPS)
  assert.deepEqual(
    placedIn(nodes).map(({ node, place, depth }) => [node.step.id, place, depth]),
    [
      ['pause', 'steps[0]', 0],
      ['decide', 'steps[1]', 0],
      ['one', 'steps[1].branches[0].steps[0]', 1],
      ['two', 'steps[1].branches[0].steps[1]', 1],
      ['other', 'steps[1].else[0]', 1],
      ['last', 'steps[2]', 0],
    ],
  )
  const about = (sentence: string): string | undefined => nodeIn(nodes, sentence)?.step.id
  assert.equal(about('steps[1].branches[0].steps[1].dataset is missing'), 'two')
  assert.equal(about('steps[1].branches[0].name: another branch has it'), 'decide')
  assert.equal(about('steps[2] must be a step'), 'last')
  assert.equal(about('steps[20].dataset is missing'), undefined)
  assert.equal(about('entry_conditions[0] is wrong'), undefined)
})

test('only the steps in the arms that a run did not take are untaken, at any depth', () => {
  const nodes = nodesOf(STEPS)
  const idsOf = (keys: readonly string[]): readonly (string | undefined)[] =>
    keys.map((key) => placedIn(nodes).find(({ node }) => node.key === key)?.node.step.id)
  assert.deepEqual(idsOf(untakenIn(nodes, (_node, { name }) => name === 'big')), ['other'])
  assert.deepEqual(idsOf(untakenIn(nodes, (_node, { name }) => name === null)), ['one', 'two'])
  assert.deepEqual(
    untakenIn(nodes, () => undefined),
    [],
  )
  const outer = nodesOf([
    { id: 'outer', type: 'branch', input: 'payload', branches: [{ name: 'all', conditions: [], steps: [...STEPS] }] },
  ])
  assert.equal(untakenIn(outer, (_node, { name }) => name === 'all' || name === 'small').length, 3)
})

test('a step moves only inside its list, and the first one cannot move up', () => {
  const nodes = nodesOf(STEPS)
  const order = (of: typeof nodes): readonly string[] => idsIn(of)
  assert.deepEqual(order(moved(nodes, { key: keyOf(nodes, 'two'), by: -1 })), [
    'pause',
    'decide',
    'two',
    'one',
    'other',
    'last',
  ])
  assert.deepEqual(order(moved(nodes, { key: keyOf(nodes, 'pause'), by: -1 })), order(nodes))
  assert.deepEqual(order(moved(nodes, { key: keyOf(nodes, 'last'), by: 1 })), order(nodes))
})

test('a person adds, changes and removes a step at any depth, and no two steps get the same id', () => {
  const nodes = nodesOf(STEPS)
  const [branch] = nodes.filter(({ arms }) => arms !== undefined)
  const small = branch?.arms?.[1]?.key ?? ''
  const added = inserted(nodes, { list: small, index: 0, node: newNode('emit_event', nodes) })
  assert.deepEqual(idsIn(added), ['pause', 'decide', 'one', 'two', 'file', 'other', 'last'])
  assert.equal(newNode('emit_event', added).step.id, 'file_2')
  assert.equal(newNode('delay', added).step.id, 'pause_2')
  assert.deepEqual(idsIn(removed(added, keyOf(added, 'decide'))), ['pause', 'last'])
  const renamed = changed(added, keyOf(added, 'one'), (node) => ({ ...node, step: { ...node.step, id: 'uno' } }))
  assert.deepEqual(idsIn(renamed), ['pause', 'decide', 'uno', 'two', 'file', 'other', 'last'])
  const top = inserted(nodes, { list: TOP, index: 3, node: newNode('deliver', nodes) })
  assert.equal(idsIn(top).at(-1), 'notify')
})

test('a copy of a branch has new ids for all its steps, and an added arm comes before the last one', () => {
  const nodes = nodesOf(STEPS)
  const [, branch] = nodes
  assert.ok(branch !== undefined)
  const copy = duplicateOf(nodes, branch)
  assert.deepEqual(idsIn([copy]), ['decide_2', 'one_2', 'two_2', 'other_2'])
  assert.deepEqual(
    withArm(branch).arms?.map(({ name }) => name),
    ['big', 'small', 'branch', null],
  )
})
