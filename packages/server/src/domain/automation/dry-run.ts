import type { Step, StepOf, WorkflowDryRun } from '@postroad/contract'
import { compileConditions } from '../routing/condition.ts'
import { compilePath, readPath } from '../routing/dot-path.ts'
import { explain } from '../routing/explain.ts'
import { hasTemplate } from '../templates/json-template.ts'
import type { Counting, WorkBudget } from '../work-budget.ts'
import { compileValue, renderValue, type StepScope } from './value-template.ts'

/** Runs the steps of a definition on one payload without any effect: templates are rendered, and branches are taken. */

type Shown = WorkflowDryRun['steps'][number]

export type DryRunAsked = {
  readonly steps: readonly Step[]
  readonly scope: Omit<StepScope, 'steps'>
  /** The outputs to assume, by the id of the step. */
  readonly outputs: Readonly<Record<string, unknown>>
  /** For the templates of all steps together. */
  readonly budget: WorkBudget
  /** For the conditions of branches. */
  readonly counter: Counting
}

export function dryRunSteps(asked: DryRunAsked): Pick<WorkflowDryRun, 'steps' | 'complete'> {
  const run = new DryRun(asked)
  const complete = run.list(asked.steps, 'steps')
  return { steps: run.shown, complete }
}

class DryRun {
  readonly shown: Shown[] = []
  readonly #asked: DryRunAsked
  readonly #outputs: Record<string, unknown> = {}

  constructor(asked: DryRunAsked) {
    this.#asked = asked
  }

  /** False when a step failed, so that nothing after it runs. */
  list(steps: readonly Step[], place: string): boolean {
    for (const [index, step] of steps.entries()) {
      const at = `${place}[${index}]`
      const goesOn = step.type === 'branch' ? this.#branch(step, at) : this.#plain(step, at)
      if (!goesOn) return false
    }
    return true
  }

  #branch(step: StepOf<'branch'>, place: string): boolean {
    const { scope, counter } = this.#asked
    const payload =
      step.input === 'payload' ? scope.payload : readPath({ steps: this.#outputs }, compilePath(step.input))
    const { request } = scope
    const failed: NonNullable<Shown['failed']> = []
    for (const [index, { name, conditions, steps }] of step.branches.entries()) {
      const failure = explain(compileConditions(conditions, 'strict'), { payload, request, budget: counter })
      if (failure !== null) {
        failed.push({ name, failed: failure })
        continue
      }
      this.#show(step, { place, input: null, output: { taken: name }, failed })
      return this.list(steps, `${place}.branches[${index}].steps`)
    }
    const taken = step.else === undefined ? null : 'else'
    this.#show(step, { place, input: null, output: { taken }, failed })
    return this.list(step.else ?? [], `${place}.else`)
  }

  #plain(step: Exclude<Step, { type: 'branch' }>, place: string): boolean {
    const rendered = this.#inputOf(step)
    if ('error' in rendered) {
      this.#show(step, { place, input: null, output: null, error: rendered.error })
      return 'on_error' in step && step.on_error === 'continue'
    }
    const assumed = Object.hasOwn(this.#asked.outputs, step.id) ? this.#asked.outputs[step.id] : exampleOutput(step)
    this.#show(step, { place, input: rendered.input, output: assumed })
    return true
  }

  #show(step: Step, of: Pick<Shown, 'place' | 'input' | 'output'> & Partial<Shown>): void {
    this.shown.push({ step_id: step.id, type: step.type, error: null, ...of })
    if (of.error === undefined) this.#outputs[step.id] = { output: of.output }
  }

  #inputOf(step: Exclude<Step, { type: 'branch' }>): Rendered {
    switch (step.type) {
      case 'delay':
        return step.until === undefined ? { input: { seconds: step.seconds } } : this.#member('until', step.until)
      case 'wait_for_event':
        return this.#wait(step)
      case 'deliver': {
        const { destination, record = null } = step
        return { input: { destination, record } }
      }
      case 'emit_event':
        return this.#emission(step)
      case 'run_agent':
        return this.#data({ data: step.input }, { agent: step.agent })
    }
  }

  #member(name: string, value: unknown): Rendered {
    const rendered = this.#render(value)
    return 'error' in rendered ? rendered : { input: { [name]: rendered.input } }
  }

  #data({ data }: { readonly data?: unknown }, named: object): Rendered {
    const rendered = data === undefined ? { input: this.#asked.scope.payload } : this.#render(data)
    return 'error' in rendered ? rendered : { input: { ...named, data: rendered.input } }
  }

  #emission(step: StepOf<'emit_event'>): Rendered {
    const { dataset, customer } = step
    if (customer === undefined) return this.#data(step, { dataset })
    const named = this.#render(customer)
    return 'error' in named ? named : this.#data(step, { dataset, customer: named.input })
  }

  #wait({ dataset, conditions, timeout_seconds }: StepOf<'wait_for_event'>): Rendered {
    const rendered: unknown[] = []
    for (const condition of conditions) {
      const member = 'equals' in condition ? 'equals' : 'value'
      const value: unknown = Reflect.get(condition, member)
      const made = hasTemplate(JSON.stringify(value ?? null)) ? this.#render(value) : { input: value }
      if ('error' in made) return made
      rendered.push(value === undefined ? condition : { ...condition, [member]: made.input })
    }
    return { input: { dataset, conditions: rendered, timeout_seconds } }
  }

  #render(value: unknown): Rendered {
    const { scope, budget } = this.#asked
    const compiled = compileValue(value)
    if ('error' in compiled) return { error: compiled.error }
    const rendered = renderValue(compiled, { scope: { ...scope, steps: this.#outputs }, budget })
    return rendered.ok ? { input: rendered.value } : { error: rendered.error }
  }
}

type Rendered = { readonly input: unknown } | { readonly error: string }

/** The members of each output, with null where only a real run has the value. */
function exampleOutput(step: Exclude<Step, { type: 'branch' }>): object {
  switch (step.type) {
    case 'delay':
      return { woke_at: null }
    case 'wait_for_event':
      return { timed_out: false, record_id: null, received_at: null, payload: null }
    case 'deliver':
      return { delivery_id: null }
    case 'emit_event':
      return { record_id: null }
    case 'run_agent':
      return { run_id: null }
  }
}
