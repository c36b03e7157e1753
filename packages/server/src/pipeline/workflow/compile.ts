import { REQUEST_ROOT, type Condition, type Step, type StepOf } from '@postroad/contract'
import { compileConditions, type CompiledConditions } from '../../domain/routing/condition.ts'
import { compilePath, type Path } from '../../domain/routing/dot-path.ts'
import { compileValue, type Template } from './template.ts'

/** A step that has effects, can fail, and is tried again. */
export type Acting = StepOf<'deliver' | 'emit_event' | 'run_agent'>

/** One position of the cursor. A step that parks has two: the second one runs when the instance wakes. */
export type Instruction =
  | { readonly do: 'delay'; readonly step: StepOf<'delay'>; readonly until: Template | undefined }
  | { readonly do: 'delay_end'; readonly step: StepOf<'delay'> }
  | {
      readonly do: 'wait'
      readonly step: StepOf<'wait_for_event'>
      /** Values that are templates, by the index of their condition. */
      readonly values: ReadonlyMap<number, Template>
    }
  | { readonly do: 'wait_end'; readonly step: StepOf<'wait_for_event'> }
  | {
      readonly do: 'branch'
      readonly step: StepOf<'branch'>
      /** Empty: the payload. Otherwise the id of the step whose output is the document. */
      readonly of: Path
      readonly arms: readonly { readonly name: string; readonly conditions: CompiledConditions; readonly at: number }[]
      readonly otherwise: number
      readonly end: number
    }
  | { readonly do: 'jump'; readonly to: number }
  | { readonly do: 'deliver'; readonly step: StepOf<'deliver'> }
  | { readonly do: 'deliver_end'; readonly step: StepOf<'deliver'> }
  | {
      readonly do: 'emit'
      readonly step: StepOf<'emit_event'>
      readonly data: Template | undefined
      readonly customer: Template | undefined
      /** A later step delivers the record, so its payload is remembered. */
      readonly retained: boolean
    }
  | { readonly do: 'agent'; readonly step: StepOf<'run_agent'>; readonly input: Template | undefined }
  | { readonly do: 'agent_end'; readonly step: StepOf<'run_agent'> }

export type InstructionOf<Kind extends Instruction['do']> = Extract<Instruction, { readonly do: Kind }>

/** The end of the list is the end of the workflow. */
export type Program = {
  readonly name: string
  readonly instructions: readonly Instruction[]
  /** A step may read the request of the record, so the instance remembers it. */
  readonly usesRequest: boolean
  /** This version of the server cannot read the stored definition. */
  readonly unreadable?: true
}

export const UNREADABLE: Program = { name: '', instructions: [], usesRequest: false, unreadable: true }

/**
 * Compiles the steps of a version to a flat list. The cursors of stored instances are indexes into it, so the layout is a stored
 * format: a change of it must leave every index of every stored definition as it is.
 */
export function compileWorkflow({ name, steps }: { readonly name: string; readonly steps: readonly Step[] }): Program {
  const named = new Set<string>()
  collectDelivered(steps, named)
  const instructions: Instruction[] = []
  append(steps, { instructions, named })
  return { name, instructions, usesRequest: JSON.stringify(steps).includes(REQUEST_ROOT) }
}

type Compiling = {
  readonly instructions: Instruction[]
  /** The emit_event steps whose record a deliver step names. */
  readonly named: ReadonlySet<string>
}

function append(steps: readonly Step[], compiling: Compiling): void {
  for (const step of steps) {
    if (step.type === 'branch') appendBranch(step, compiling)
    else compiling.instructions.push(...instructionsOf(step, compiling.named))
  }
}

function instructionsOf(step: Exclude<Step, { type: 'branch' }>, named: ReadonlySet<string>): readonly Instruction[] {
  switch (step.type) {
    case 'delay':
      return [
        { do: 'delay', step, until: step.until === undefined ? undefined : compileValue(step.until) },
        { do: 'delay_end', step },
      ]
    case 'wait_for_event':
      return [
        { do: 'wait', step, values: templatesOf(step.conditions) },
        { do: 'wait_end', step },
      ]
    case 'deliver':
      return [
        { do: 'deliver', step },
        { do: 'deliver_end', step },
      ]
    case 'emit_event':
      return [
        {
          do: 'emit',
          step,
          data: step.data === undefined ? undefined : compileValue(step.data),
          customer: step.customer === undefined ? undefined : compileValue(step.customer),
          retained: named.has(step.id),
        },
      ]
    case 'run_agent':
      return [
        { do: 'agent', step, input: step.input === undefined ? undefined : compileValue(step.input) },
        { do: 'agent_end', step },
      ]
  }
}

/** The branch, then each arm with a jump behind the last one, then `else`. */
function appendBranch(step: StepOf<'branch'>, compiling: Compiling): void {
  const { instructions } = compiling
  const at = instructions.length
  // The content of the branch, and the ends of its arms, are known only after the arms.
  instructions.push({ do: 'jump', to: at + 1 })
  const jumps: number[] = []
  const arms = step.branches.map(({ name, conditions, steps }) => {
    const arm = { name, conditions: compileConditions(conditions, 'strict'), at: instructions.length }
    append(steps, compiling)
    jumps.push(instructions.length)
    instructions.push({ do: 'jump', to: 0 })
    return arm
  })
  const otherwise = instructions.length
  append(step.else ?? [], compiling)
  const end = instructions.length
  for (const jump of jumps) instructions[jump] = { do: 'jump', to: end }
  instructions[at] = { do: 'branch', step, of: documentOf(step.input), arms, otherwise, end }
}

const documentOf = (input: string): Path => (input === 'payload' ? [] : compilePath(input))

function templatesOf(conditions: readonly Condition[]): ReadonlyMap<number, Template> {
  const values = new Map<number, Template>()
  for (const [index, condition] of conditions.entries()) {
    const value = 'equals' in condition ? condition.equals : 'value' in condition ? condition.value : undefined
    if (JSON.stringify(value ?? null).includes('{{')) values.set(index, compileValue(value))
  }
  return values
}

function collectDelivered(steps: readonly Step[], named: Set<string>): void {
  for (const step of steps) {
    if (step.type === 'deliver' && step.record !== undefined) named.add(step.record)
    if (step.type !== 'branch') continue
    for (const arm of step.branches) collectDelivered(arm.steps, named)
    collectDelivered(step.else ?? [], named)
  }
}
