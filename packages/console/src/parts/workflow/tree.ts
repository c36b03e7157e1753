import type { Condition, Step, StepType } from '@postroad/contract'

/**
 * The steps of a workflow as a tree that a person edits: each step and each arm of a branch has a key that no edit changes, while its place
 * (`steps[2].branches[0].steps[0]`) and its id can change.
 */

export type StepNode = {
  readonly key: string
  /** A branch is here without its arms. */
  readonly step: Step
  /** The arms of a branch, in their order; the last one is the steps to run when no other matches. */
  readonly arms?: readonly Arm[]
}

export type Arm = {
  readonly key: string
  /** null: the steps to run when no branch matches. */
  readonly name: string | null
  readonly conditions: readonly Condition[]
  readonly nodes: readonly StepNode[]
}

/** The key of the list of steps that are in no branch. */
export const TOP = 'top'

let made = 0

function newKey(): string {
  made += 1
  return `key${made}`
}

export function nodesOf(steps: readonly Step[]): readonly StepNode[] {
  return steps.map(nodeOf)
}

function nodeOf(step: Step): StepNode {
  const key = newKey()
  if (step.type !== 'branch') return { key, step }
  const { else: otherwise, ...head } = step
  return {
    key,
    step: { ...head, branches: [] },
    arms: [
      ...step.branches.map((arm) => newArm(arm.name, { conditions: arm.conditions, steps: arm.steps })),
      newArm(null, { steps: otherwise ?? [] }),
    ],
  }
}

function newArm(
  name: string | null,
  {
    conditions = [],
    steps = [],
  }: { readonly conditions?: readonly Condition[]; readonly steps?: readonly Step[] } = {},
): Arm {
  return { key: newKey(), name, conditions, nodes: nodesOf(steps) }
}

/** The steps as they are sent and stored. */
export function stepsOf(nodes: readonly StepNode[]): Step[] {
  return nodes.map(({ step, arms }) => {
    if (step.type !== 'branch' || arms === undefined) return step
    const otherwise = arms.find(({ name }) => name === null)?.nodes ?? []
    return {
      ...step,
      branches: arms.flatMap(({ name, conditions, nodes: inside }) =>
        name === null ? [] : [{ name, conditions: [...conditions], steps: stepsOf(inside) }],
      ),
      ...(otherwise.length === 0 ? {} : { else: stepsOf(otherwise) }),
    }
  })
}

export type Placed = { readonly node: StepNode; readonly place: string; readonly list: string; readonly depth: number }

/** Every step with its place in the definition, the key of its list, and the number of branches that it is in. */
export function placedIn(nodes: readonly StepNode[], at = { place: 'steps', list: TOP, depth: 0 }): readonly Placed[] {
  return nodes.flatMap((node, index) => {
    const place = `${at.place}[${index}]`
    return [
      { node, place, list: at.list, depth: at.depth },
      ...(node.arms ?? []).flatMap((arm, number) =>
        placedIn(arm.nodes, {
          place: arm.name === null ? `${place}.else` : `${place}.branches[${number}].steps`,
          list: arm.key,
          depth: at.depth + 1,
        }),
      ),
    ]
  })
}

/** The keys of the steps in the arms that a run did not take. */
export function untakenIn(
  nodes: readonly StepNode[],
  takes: (node: StepNode, arm: Arm) => boolean | undefined,
): readonly string[] {
  return nodes.flatMap((node) =>
    (node.arms ?? []).flatMap((arm) =>
      takes(node, arm) === false ? placedIn(arm.nodes).map(({ node: { key } }) => key) : untakenIn(arm.nodes, takes),
    ),
  )
}

/** The step that a sentence is about, such as `steps[1].conditions[0].equals is missing`; undefined: no single step. */
export function nodeIn(nodes: readonly StepNode[], sentence: string): StepNode | undefined {
  const found = placedIn(nodes).filter(
    ({ place }) => sentence.startsWith(place) && /^[.:[ ]/.test(sentence.slice(place.length)),
  )
  return found.toSorted((a, b) => b.place.length - a.place.length)[0]?.node
}

/** Changes every list of steps, the inner ones first. */
function mapped(
  nodes: readonly StepNode[],
  change: (nodes: readonly StepNode[], list: string) => readonly StepNode[],
  list = TOP,
): readonly StepNode[] {
  const inner = nodes.map((node) =>
    node.arms === undefined
      ? node
      : { ...node, arms: node.arms.map((arm) => ({ ...arm, nodes: mapped(arm.nodes, change, arm.key) })) },
  )
  return change(inner, list)
}

export function changed(
  nodes: readonly StepNode[],
  key: string,
  change: (node: StepNode) => StepNode,
): readonly StepNode[] {
  return mapped(nodes, (list) => list.map((node) => (node.key === key ? change(node) : node)))
}

export function removed(nodes: readonly StepNode[], key: string): readonly StepNode[] {
  return mapped(nodes, (list) => list.filter((node) => node.key !== key))
}

export function inserted(
  nodes: readonly StepNode[],
  { list, index, node }: { readonly list: string; readonly index: number; readonly node: StepNode },
): readonly StepNode[] {
  return mapped(nodes, (of, name) => (name === list ? of.toSpliced(index, 0, node) : of))
}

/** One step up or down in its list. */
export function moved(
  nodes: readonly StepNode[],
  { key, by }: { readonly key: string; readonly by: -1 | 1 },
): readonly StepNode[] {
  return mapped(nodes, (list) => {
    const from = list.findIndex((node) => node.key === key)
    const node = list[from]
    const to = from + by
    return node === undefined || to < 0 || to >= list.length ? list : list.toSpliced(from, 1).toSpliced(to, 0, node)
  })
}

/** A copy with ids that no other step has, to put after it. */
export function duplicateOf(nodes: readonly StepNode[], node: StepNode): StepNode {
  const ids = new Set(idsIn(nodes))
  const [copy] = nodesOf(stepsOf([node]))
  return copy === undefined ? node : renamed(copy, ids)
}

function renamed(node: StepNode, ids: Set<string>): StepNode {
  const id = freeId(node.step.id, ids)
  ids.add(id)
  return {
    ...node,
    step: { ...node.step, id },
    ...(node.arms === undefined
      ? {}
      : { arms: node.arms.map((arm) => ({ ...arm, nodes: arm.nodes.map((inside) => renamed(inside, ids)) })) }),
  }
}

export function idsIn(nodes: readonly StepNode[]): readonly string[] {
  return placedIn(nodes).map(({ node }) => node.step.id)
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted
  const base = wanted.replace(/_\d+$/, '')
  let number = 2
  while (taken.has(`${base}_${number}`)) number += 1
  return `${base}_${number}`
}

const IDS: Readonly<Record<StepType, string>> = {
  delay: 'pause',
  wait_for_event: 'reply',
  branch: 'decide',
  deliver: 'notify',
  emit_event: 'file',
  run_agent: 'ask',
}

/** A step with its required members. A person names the destination, the agent and the datasets. */
export function newNode(type: StepType, nodes: readonly StepNode[]): StepNode {
  const id = freeId(IDS[type], new Set(idsIn(nodes)))
  return nodeOf(newStep(type, id))
}

// oxlint-disable-next-line max-params -- the type and the id of a step
function newStep(type: StepType, id: string): Step {
  switch (type) {
    case 'delay':
      return { id, type, seconds: 3_600 }
    case 'wait_for_event':
      return {
        id,
        type,
        dataset: '',
        conditions: [{ path: 'id', equals: '{{ payload.id }}' }],
        timeout_seconds: 604_800,
        on_timeout: 'continue',
      }
    case 'branch':
      return { id, type, input: 'payload', branches: [{ name: 'first', conditions: [], steps: [] }] }
    case 'deliver':
      return { id, type, destination: '', await: 'none', capture_response: false, on_error: 'fail' }
    case 'emit_event':
      return { id, type, dataset: '', on_error: 'fail' }
    case 'run_agent':
      return { id, type, agent: '', on_error: 'fail' }
  }
}

/** One more arm, before the last one, which is for everything else. */
export function withArm(node: StepNode): StepNode {
  const arms = node.arms ?? []
  const names = new Set(arms.flatMap(({ name }) => name ?? []))
  return { ...node, arms: arms.toSpliced(arms.length - 1, 0, newArm(freeId('branch', names))) }
}
