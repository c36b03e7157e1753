import { useState } from 'react'
import type { Condition, StepType } from '@postroad/contract'
import type { Fault } from '../../../parts/workflow/member-fields.tsx'
import {
  changed,
  duplicateOf,
  inserted,
  moved,
  newNode,
  nodesOf,
  placedIn,
  removed,
  stepsOf,
  type StepNode,
} from '../../../parts/workflow/tree.ts'
import { definitionOf, isSame, type Definition } from './definition.ts'

/** The key of the start; each step has another key. */
export const START = 'start'

type Draft = {
  readonly name: string
  readonly slug: string
  readonly entry_dataset: string
  readonly entry_conditions: readonly Condition[]
  readonly nodes: readonly StepNode[]
}

export type Editor = {
  readonly draft: Draft
  /** The draft in the form in which the server stores it. */
  readonly definition: Definition
  readonly isChanged: boolean
  /** Grows when the draft starts again from the stored definition. */
  readonly epoch: number
  /** A part of the form that cannot be sent, such as text that is not JSON. */
  readonly fault: string | undefined
  readonly at: string | undefined
  readonly go: (key: string | undefined) => void
  readonly set: (part: Partial<Omit<Draft, 'nodes'>>) => void
  readonly setNode: (key: string, change: (node: StepNode) => StepNode) => void
  readonly faultOf: (of: string) => Fault | undefined
  readonly setFault: (of: string, fault: Fault | undefined) => void
  readonly add: (at: { readonly list: string; readonly index: number; readonly type: StepType }) => void
  readonly move: (key: string, by: -1 | 1) => void
  readonly remove: (key: string) => void
  readonly duplicate: (key: string) => void
  /** Takes a whole definition, such as the text of the JSON view. */
  readonly replace: (definition: Definition) => void
  readonly discard: () => void
  /** Call this after the draft was stored. */
  readonly saved: () => void
}

function draftOf({ steps, name, slug, entry_dataset, entry_conditions }: Definition): Draft {
  return { name, slug, entry_dataset, entry_conditions, nodes: nodesOf(steps) }
}

type State = {
  readonly held: Definition
  readonly draft: Draft
  readonly faults: Readonly<Record<string, Fault>>
  readonly epoch: number
}

const stateOf = (held: Definition, epoch = 0): State => ({ held, draft: draftOf(held), faults: {}, epoch })

/** The draft of a workflow. While nothing is changed, it follows the stored definition. */
export function useEditor(stored: Definition): Editor {
  const [state, setState] = useState<State>(() => stateOf(definitionOf(stored)))
  const [at, go] = useState<string | undefined>()
  const { held, draft, faults, epoch } = state
  const definition: Definition = definitionOf({ ...draft, active: stored.active, steps: stepsOf(draft.nodes) })
  const isChanged = !isSame({ ...definition, active: held.active }, held) || Object.keys(faults).length > 0
  const fresh = definitionOf(stored)
  if (!isSame(fresh, held)) {
    // The fresh definition is the saved draft, so the open step stays open.
    if (isSame(fresh, definition)) setState({ ...state, held: fresh })
    else if (!isChanged) setState(stateOf(fresh, epoch + 1))
  }
  const setNodes = (change: (nodes: readonly StepNode[]) => readonly StepNode[]): void =>
    setState((now) => ({ ...now, draft: { ...now.draft, nodes: change(now.draft.nodes) } }))
  return {
    draft,
    definition,
    isChanged,
    epoch,
    fault: Object.values(faults)[0]?.said,
    at,
    go: (key) => go(key === at ? undefined : key),
    set: (part) => setState((now) => ({ ...now, draft: { ...now.draft, ...part } })),
    setNode: (key, change) => setNodes((nodes) => changed(nodes, key, change)),
    faultOf: (of) => faults[of],
    setFault: (of, fault) => setState((now) => ({ ...now, faults: withFault(now.faults, of, fault) })),
    add: ({ list, index, type }) => {
      const node = newNode(type, draft.nodes)
      setNodes((nodes) => inserted(nodes, { list, index, node }))
      go(node.key)
    },
    move: (key, by) => setNodes((nodes) => moved(nodes, { key, by })),
    remove: (key) => {
      setState((now) => ({
        ...now,
        faults: Object.fromEntries(Object.entries(now.faults).filter(([of]) => !of.startsWith(`${key} `))),
        draft: { ...now.draft, nodes: removed(now.draft.nodes, key) },
      }))
      go(undefined)
    },
    duplicate: (key) => {
      const placed = placedIn(draft.nodes).find(({ node }) => node.key === key)
      if (placed === undefined) return
      const copy = duplicateOf(draft.nodes, placed.node)
      const index = Number(/\[(\d+)\]$/.exec(placed.place)?.[1] ?? 0) + 1
      setNodes((nodes) => inserted(nodes, { list: placed.list, index, node: copy }))
      go(copy.key)
    },
    replace: (next) => {
      setState((now) => ({ ...now, faults: {}, draft: draftOf(next) }))
      go(undefined)
    },
    discard: () => {
      setState(stateOf(definitionOf(stored), epoch + 1))
      go(undefined)
    },
    saved: () => setState((now) => ({ ...now, held: definition })),
  }
}

// oxlint-disable-next-line max-params -- the faults, and the one that changes
function withFault(faults: State['faults'], of: string, fault: Fault | undefined): State['faults'] {
  const others = Object.fromEntries(Object.entries(faults).filter(([name]) => name !== of))
  return fault === undefined ? others : { ...others, [of]: fault }
}
