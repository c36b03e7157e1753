import { decodeId, LIMITS, type Condition, type Step, type StepOf } from '@postroad/contract'
import { schemaProblem } from './ai/output-schema.ts'
import { validatePattern } from '../routing/regex/bounds.ts'
import { hasTemplate, type NamedPath } from '../templates/json-template.ts'
import { compileValue } from './value-template.ts'

/** The checks of a definition beyond its schema. Each refusal is a sentence that starts with the place of the fault. */

/** A resource that a step names: its id, and the place that names it. */
type Reference = { readonly place: string; readonly id: string }

export type CheckedDefinition = {
  readonly destinations: readonly Reference[]
  readonly agents: readonly Reference[]
}

const { workflowStepsMax, workflowBranchDepthMax, workflowDefinitionCharsMax, templateOutputsMax } = LIMITS

/** Checks the steps of a workflow. Returns what they refer to, or the sentence that refuses them. */
export function checkDefinition(steps: readonly Step[]): CheckedDefinition | { readonly error: string } {
  try {
    return new Checker().check(steps)
  } catch (error) {
    if (error instanceof Fault) return { error: error.message }
    throw error
  }
}

class Fault extends Error {}

/** The steps that have run, or may have run, before the current step. */
type Earlier = ReadonlyMap<string, Step['type']>
type Place = { readonly path: string; readonly depth: number; readonly earlier: Earlier }

class Checker {
  readonly #destinations: Reference[] = []
  readonly #agents: Reference[] = []
  readonly #places = new Map<string, string>()

  check(steps: readonly Step[]): CheckedDefinition {
    const text = JSON.stringify(steps)
    if (text.length > workflowDefinitionCharsMax)
      throw new Fault(
        `steps have ${text.length} characters of JSON in total, and the maximum is ${workflowDefinitionCharsMax}. Move parts to another workflow.`,
      )
    if (text.split('{{').length - 1 > templateOutputsMax)
      throw new Fault(`steps contain more than ${templateOutputsMax} {{ … }}. Move parts to another workflow.`)
    this.#steps(steps, { path: 'steps', depth: 0, earlier: new Map() })
    if (this.#places.size > workflowStepsMax)
      throw new Fault(
        `steps: the workflow has ${this.#places.size} steps, including those in branches, and the maximum is ${workflowStepsMax}. Move parts to another workflow.`,
      )
    return { destinations: this.#destinations, agents: this.#agents }
  }

  /** Returns the steps that a step after these may read. */
  #steps(steps: readonly Step[], at: Place): Earlier {
    let { earlier } = at
    for (const [index, step] of steps.entries()) {
      const path = `${at.path}[${index}]`
      this.#name(step, path)
      const here = { path, depth: at.depth, earlier }
      const after = step.type === 'branch' ? this.#branch(step, here) : this.#plain(step, here)
      earlier = new Map([...after, [step.id, step.type]])
    }
    return earlier
  }

  #name({ id }: Step, path: string): void {
    const other = this.#places.get(id)
    if (other !== undefined)
      throw new Fault(`${path}.id: "${id}" is also the id of ${other}. Give each step a unique id.`)
    this.#places.set(id, path)
  }

  /** An arm does not see the steps of the other arms, because only one of them runs. */
  #branch(step: StepOf<'branch'>, { path, depth, earlier }: Place): Earlier {
    if (depth >= workflowBranchDepthMax)
      throw new Fault(
        `${path}: branches are nested more than ${workflowBranchDepthMax} levels deep. Combine their conditions, or move the inner one to another workflow.`,
      )
    if (step.input !== 'payload') checkBranchInput(step.input, { path: `${path}.input`, earlier })
    const inside = new Map([...earlier, [step.id, step.type] as const])
    const arms = step.branches.map((arm, index) => {
      const place = `${path}.branches[${index}]`
      checkArmName(step, { index, place })
      checkPatterns(arm.conditions, `${place}.conditions`)
      refuseTemplates(arm.conditions, `${place}.conditions`)
      return this.#steps(arm.steps, { path: `${place}.steps`, depth: depth + 1, earlier: inside })
    })
    const otherwise = this.#steps(step.else ?? [], { path: `${path}.else`, depth: depth + 1, earlier: inside })
    return new Map([...arms, otherwise].flatMap((after) => [...after]))
  }

  #plain(step: Exclude<Step, { type: 'branch' }>, at: Place): Earlier {
    switch (step.type) {
      case 'delay':
        checkDelay(step, at)
        break
      case 'wait_for_event':
        checkWait(step, at)
        break
      case 'deliver':
        this.#deliver(step, at)
        break
      case 'emit_event':
        checkValue(step.data, { ...at, path: `${at.path}.data` })
        checkValue(step.customer, { ...at, path: `${at.path}.customer` })
        break
      case 'run_agent':
        this.#agent(step, at)
    }
    return at.earlier
  }

  #deliver({ destination, record, ...step }: StepOf<'deliver'>, { path, depth, earlier }: Place): void {
    const id = decodeId('destination', destination)
    if (id === undefined)
      throw new Fault(`${path}.destination must be the id of a destination of this project, which starts with dst_.`)
    this.#destinations.push({ place: `${path}.destination`, id })
    if (record !== undefined && earlier.get(record) !== 'emit_event')
      throw new Fault(
        `${path}.record: "${record}" is not an earlier emit_event step. Name one, or remove the member to deliver the record that started the workflow.`,
      )
    if (step.await === 'delivered' && depth > 0)
      throw new Fault(
        `${path}.await: a step inside a branch cannot wait for its delivery. Use "none", or move the step after the branch.`,
      )
    if (step.capture_response && step.await !== 'delivered')
      throw new Fault(`${path}.capture_response requires "await": "delivered". Add that, or remove this member.`)
  }

  #agent({ agent, input, output_schema: schema }: StepOf<'run_agent'>, at: Place): void {
    const { path } = at
    const id = decodeId('aiAgent', agent)
    if (id === undefined)
      throw new Fault(`${path}.agent must be the id of an AI agent of this project, which starts with aia_.`)
    this.#agents.push({ place: `${path}.agent`, id })
    checkValue(input, { ...at, path: `${path}.input` })
    if (schema === undefined) return
    const problem = schemaProblem(schema)
    if (problem !== undefined) throw new Fault(`${path}.output_schema: ${problem}`)
  }
}

const OUTPUT_PATH = /^steps\.([A-Za-z][A-Za-z0-9_]*)\.output(?:\..+)?$/

function checkBranchInput(input: string, { path, earlier }: Omit<Place, 'depth'>): void {
  const [, id] = OUTPUT_PATH.exec(input) ?? []
  if (id === undefined)
    throw new Fault(`${path} must be "payload", or the output of an earlier step such as "steps.paid.output".`)
  if (!earlier.has(id)) throw new Fault(`${path}: ${noStep(id)}`)
}

function checkArmName({ branches }: StepOf<'branch'>, { index, place }: { index: number; place: string }): void {
  const name = branches[index]?.name
  if (name === 'else') throw new Fault(`${place}.name: "else" is the name of the other branch. Choose another name.`)
  if (branches.findIndex((arm) => arm.name === name) !== index)
    throw new Fault(`${place}.name: another branch of this step has the same name. Choose another name.`)
}

function checkDelay({ until }: StepOf<'delay'>, at: Place): void {
  refuseInBranch('delay', at)
  if (until === undefined) return
  const path = `${at.path}.until`
  if (!hasTemplate(until) && !isInstant(until))
    throw new Fault(
      `${path} must be a template such as "{{ payload.due_at }}", or a time such as 2026-01-31T12:00:00Z.`,
    )
  checkValue(until, { ...at, path })
}

const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const isInstant = (text: string): boolean => INSTANT.test(text) && !Number.isNaN(Date.parse(text))

function checkWait({ conditions }: StepOf<'wait_for_event'>, at: Place): void {
  refuseInBranch('wait_for_event', at)
  const path = `${at.path}.conditions`
  if (!conditions.some((condition) => 'equals' in condition))
    throw new Fault(
      `${path}: Postroad finds a wait by a value that must be equal. Add a condition such as {"path": "order_id", "equals": "{{ payload.id }}"}.`,
    )
  for (const [index, condition] of conditions.entries()) {
    const place = { ...at, path: `${path}[${index}].${'equals' in condition ? 'equals' : 'value'}` }
    if ('op' in condition && condition.op === 'regex') refusePatternTemplate(condition.value, place.path)
    else checkValue('equals' in condition ? condition.equals : 'value' in condition ? condition.value : null, place)
  }
  checkPatterns(conditions, path)
}

function refuseInBranch(type: string, { path, depth }: Place): void {
  if (depth > 0)
    throw new Fault(`${path}: a ${type} step cannot be inside a branch. Move it before or after the branch.`)
}

function refusePatternTemplate(pattern: string, path: string): void {
  if (hasTemplate(pattern))
    throw new Fault(`${path}: a pattern cannot be a template. Use "equals" or "contains" instead.`)
}

/** A person who writes a template here expects it to be rendered. */
function refuseTemplates(conditions: readonly Condition[], path: string): void {
  const index = conditions.findIndex((condition) => hasTemplate(JSON.stringify(condition)))
  if (index >= 0)
    throw new Fault(
      `${path}[${index}]: conditions of a branch cannot contain templates. Compare with a fixed value, or emit an event with the values to compare.`,
    )
}

/** Contract part 2, condition rules 4 and 6. */
function checkPatterns(conditions: readonly Condition[], path: string): void {
  for (const [index, condition] of conditions.entries()) {
    const why = 'op' in condition && condition.op === 'regex' ? validatePattern(condition.value) : undefined
    if (why !== undefined) throw new Fault(`${path}[${index}].value: ${why}`)
  }
}

/** Checks that the templates of a value parse, and name only earlier steps. */
function checkValue(value: unknown, { path, earlier }: Place): void {
  if (value === undefined) return
  const compiled = compileValue(value)
  if ('error' in compiled) throw new Fault(`${path}${dotted(compiled.pointer)}: ${compiled.error}`)
  for (const named of compiled.paths) {
    const why = stepFault(named, earlier)
    if (why !== undefined) throw new Fault(`${path}${dotted(named.pointer)}: ${why}`)
  }
}

function stepFault({ root, second }: NamedPath, earlier: Earlier): string | undefined {
  if (root !== 'steps') return undefined
  if (second === undefined) return 'name the step to read, such as steps.paid.output.'
  return earlier.has(second) ? undefined : noStep(second)
}

const noStep = (id: string): string =>
  `the step "${id}" does not exist or does not run before this one. Name an earlier step, or move this one.`

/** A JSON pointer in the form of the other places: `/a/0` is `.a[0]`. */
function dotted(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
}
