import { STEP_TYPES, LIMITS, type StepType } from '@postroad/contract'
import { Bot, Clock, FilePlus2, GitBranch, Hourglass, Plus, Send, type LucideIcon } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { Menu } from '../../ui/menu.tsx'
import { stepText, TYPE_WORDS, whenText, type NameOf } from './step-text.ts'
import { TOP, type Arm, type StepNode } from './tree.ts'

/**
 * The steps of a workflow from top to bottom, and the arms of a branch side by side. It has no free positions, so that it is the same on
 * every screen and in every order of reading. The editor and a run use it; each puts its own parts into a step.
 */
export type CanvasParts = {
  readonly nameOf: NameOf
  /** The key of the open step. */
  readonly at?: string | undefined
  readonly go?: (key: string) => void
  /** At the right end of the head of a step: its state, its actions. */
  readonly beside?: (node: StepNode) => ReactNode
  /** Below the head of a step: its problem, its input and output. */
  readonly under?: (node: StepNode) => ReactNode
  /** Whether a run takes this arm; undefined: unknown. */
  readonly takes?: (node: StepNode, arm: Arm) => boolean | undefined
  /** Whether a run has reached the step; others are dimmed. */
  readonly isDim?: (node: StepNode) => boolean
  /** Adds a step; absent: the steps are shown and not edited. */
  readonly add?: (at: { readonly list: string; readonly index: number; readonly type: StepType }) => void
}

export function Canvas({
  nodes,
  label,
  start,
  ...parts
}: CanvasParts & {
  readonly nodes: readonly StepNode[]
  readonly label: string
  /** The first card: the start of the workflow. */
  readonly start: ReactNode
}): ReactElement {
  return (
    <div
      role="group"
      aria-label={label}
      className="mx-auto flex max-w-[860px] flex-col items-stretch px-5 py-5 max-md:px-3"
    >
      {start}
      <Lane nodes={nodes} list={TOP} depth={0} parts={parts} />
      <p className="mx-auto rounded-full border border-line px-2.5 text-meta text-ink-3">End</p>
    </div>
  )
}

type LaneProps = {
  readonly nodes: readonly StepNode[]
  readonly list: string
  readonly depth: number
  readonly parts: CanvasParts
}

function Lane({ nodes, list, depth, parts }: LaneProps): ReactElement {
  return (
    <>
      <Edge list={list} index={0} depth={depth} parts={parts} />
      {nodes.length > 0 && (
        <ol className="flex flex-col">
          {nodes.map((node, index) => (
            <li key={node.key} className="min-w-0">
              <StepCard node={node} depth={depth} parts={parts} />
              <Edge list={list} index={index + 1} depth={depth} parts={parts} />
            </li>
          ))}
        </ol>
      )}
    </>
  )
}

/** The line between two steps, with the button that adds one there. */
function Edge({
  list,
  index,
  depth,
  parts: { add },
}: {
  readonly list: string
  readonly index: number
  readonly depth: number
  readonly parts: CanvasParts
}): ReactElement {
  if (add === undefined) return <i aria-hidden className="mx-auto block h-4 w-px bg-line-2" />
  return (
    <div className="relative mx-auto grid h-9 w-9 place-items-center before:absolute before:inset-y-0 before:left-1/2 before:w-px before:bg-line-2">
      <Menu
        label="Add a step here"
        items={typesAt(depth).map((type) => ({ label: TYPE_WORDS[type], go: () => add({ list, index, type }) }))}
        className="relative grid size-6 place-items-center rounded-full border border-line-2 bg-surface text-ink-3 hover:border-accent hover:text-accent"
      >
        <Plus className="size-3.5" strokeWidth={1.5} aria-hidden />
      </Menu>
    </div>
  )
}

/** A step that waits for time or an event cannot be inside a branch, and the depth of nested branches is limited. */
function typesAt(depth: number): readonly StepType[] {
  if (depth === 0) return STEP_TYPES
  return STEP_TYPES.filter(
    (type) =>
      type !== 'delay' && type !== 'wait_for_event' && (type !== 'branch' || depth < LIMITS.workflowBranchDepthMax),
  )
}

const ICONS: Readonly<Record<StepType, LucideIcon>> = {
  delay: Clock,
  wait_for_event: Hourglass,
  branch: GitBranch,
  deliver: Send,
  emit_event: FilePlus2,
  run_agent: Bot,
}

function StepCard({
  node,
  depth,
  parts,
}: {
  readonly node: StepNode
  readonly depth: number
  readonly parts: CanvasParts
}): ReactElement {
  const { step, arms, key } = node
  const isAt = parts.at === key
  const Icon = ICONS[step.type]
  return (
    <section
      aria-label={`Step ${step.id}`}
      className={`min-w-0 rounded-page border bg-surface ${isAt ? 'border-accent shadow-[0_0_0_1px_var(--accent)]' : 'border-line-2'}`}
    >
      <div className="flex min-h-12 flex-wrap items-center gap-x-2 py-1.5 pr-2 pl-3">
        <Icon
          className={`size-4 flex-none ${parts.isDim?.(node) === true ? 'text-ink-3' : 'text-flow'}`}
          strokeWidth={1.5}
          aria-hidden
        />
        <Head
          isAt={isAt}
          go={parts.go === undefined ? undefined : () => parts.go?.(key)}
          title={step.name ?? TYPE_WORDS[step.type]}
          id={step.id}
          text={stepText(step, parts.nameOf)}
        />
        {parts.beside?.(node)}
      </div>
      {parts.under?.(node)}
      {arms !== undefined && (
        <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,260px),1fr))] gap-2.5 rounded-b-page border-t border-line bg-sunken p-2.5">
          {arms.map((arm, index) => (
            <ArmLane key={arm.key} arm={arm} isFirst={index === 0} node={node} depth={depth + 1} parts={parts} />
          ))}
        </div>
      )}
    </section>
  )
}

/** The name and the sentence of a step or of the start; a press opens it. */
export function Head({
  isAt,
  go,
  title,
  id,
  text,
}: {
  readonly isAt: boolean
  readonly go: (() => void) | undefined
  readonly title: string
  readonly id?: string
  readonly text: string
}): ReactElement {
  const inside = (
    <>
      <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        <b className="font-strong">{title}</b>
        {id !== undefined && <span className="mono text-meta text-ink-3">{id}</span>}
      </span>
      <span className="block text-data leading-4 break-words text-ink-2">{text}</span>
    </>
  )
  return go === undefined ? (
    <div className="min-w-[150px] flex-1">{inside}</div>
  ) : (
    <button type="button" aria-expanded={isAt} onClick={go} className="min-w-[150px] flex-1 rounded-chip text-left">
      {inside}
    </button>
  )
}

function ArmLane({
  arm,
  isFirst,
  node,
  depth,
  parts,
}: {
  readonly arm: Arm
  readonly isFirst: boolean
  readonly node: StepNode
  readonly depth: number
  readonly parts: CanvasParts
}): ReactElement {
  const takes = parts.takes?.(node, arm)
  return (
    <div
      role="group"
      aria-label={arm.name === null ? `Otherwise branch of ${node.step.id}` : `Branch ${arm.name} of ${node.step.id}`}
      className={`min-w-0 rounded-field border p-2 ${takes === true ? 'border-accent-line bg-accent-soft' : 'border-line bg-surface'}`}
    >
      <p className="text-data leading-5 break-words">
        <b className="font-strong">{arm.name ?? 'Otherwise'}</b>{' '}
        {arm.name !== null && (
          <span className="mono text-ink-2">
            {isFirst ? 'if' : 'else if'} {whenText(arm.conditions)}
          </span>
        )}
        {takes !== undefined && (
          <span className={takes ? 'text-accent' : 'text-ink-3'}>{takes ? ' · taken' : ' · not taken'}</span>
        )}
      </p>
      {arm.nodes.length === 0 && parts.add === undefined ? (
        <p className="text-data text-ink-3">No steps. The run continues after the branch.</p>
      ) : (
        <Lane nodes={arm.nodes} list={arm.key} depth={depth} parts={parts} />
      )}
    </div>
  )
}
