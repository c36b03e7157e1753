import { encodeId, LIMITS } from '@postroad/contract'
import type { RenderedValue } from '../../domain/automation/value-template.ts'
import { stringifyJson } from '../../domain/json/json-text.ts'
import type { Acting } from './compile.ts'
import type {
  AiRunOut,
  DeliveryOut,
  Emission,
  Instance,
  Memory,
  Place,
  StepError,
  StepRun,
  Stop,
  Wait,
} from './instance.ts'
import { compute, type Computation, type Computed } from './compute.ts'
import { rendering, type Scope, type Template } from './template.ts'

/** The time, ids, the project, and what was computed: a run uses nothing else besides its instance. */
export type Means = {
  readonly now: number
  readonly uuid: () => string
  readonly place: Place
  /** Absent: the run computes everything itself. */
  readonly computed?: Computed
}

/** The part of a step that every step has. */
export type Named = { readonly id: string; readonly type: string }
export type Failing = { readonly reason: string; readonly message: string; readonly retryable?: boolean }

type Parking = {
  readonly state: 'sleeping' | 'waiting'
  readonly due_at: number
  readonly wait: Wait | null
  readonly input: unknown
  readonly output?: unknown
}
type Row = { readonly seq: number; readonly started_at: number }

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
const MEMORY_CHARS_MAX = 1_048_576

/** The growing rows of a run, which the settling commit writes. Steps change them only by these methods. */
export class RunDraft {
  readonly instance: Instance
  readonly means: Means
  readonly stepRuns: StepRun[] = []
  readonly deliveries: DeliveryOut[] = []
  readonly aiRuns: AiRunOut[] = []
  cursor: number
  attempt: number
  /** undefined: the instance has never run, and its record is gone. */
  memory: Memory | undefined
  /** The memory as JSON text; null: it is no longer needed, or there is none. */
  memoryText: string | null = null
  protected stopped: Stop | undefined

  constructor(instance: Instance, means: Means) {
    this.instance = instance
    this.means = means
    this.cursor = instance.cursor
    this.attempt = instance.attempt
    this.memory = instance.memory
  }

  /** The place where the run stopped. */
  get stop(): Stop {
    if (this.stopped === undefined) throw new Error('A run was settled before it was advanced.')
    return this.stopped
  }

  get emission(): Emission | undefined {
    return this.stopped?.kind === 'emitting' ? this.stopped.emission : undefined
  }

  get now(): number {
    return this.means.now
  }

  /** The memory of an instance that runs. */
  known(): Memory {
    if (this.memory === undefined) throw new Error('An instance without memory cannot run.')
    return this.memory
  }

  scope(): Scope {
    const { workflow, program, record } = this.instance
    const { payload, request = null, steps, received_at } = this.known()
    return {
      payload,
      request,
      record: { id: encodeId('record', record.id), dataset: record.dataset, received_at },
      steps,
      workflow: { id: encodeId('workflow', workflow.id), name: program?.name ?? '', version: workflow.version },
      now: iso(this.now),
    }
  }

  compute<Value>(computation: Computation<Value>): Value {
    return compute(computation, this.means.computed)
  }

  render(template: Template): RenderedValue {
    return this.compute(rendering(template, this.scope()))
  }

  emit(emission: Emission): void {
    this.stopped = { kind: 'emitting', emission }
  }

  /** The step waits, and its second instruction runs when the instance wakes. */
  park(step: Named, at: Parking): void {
    const { seq } = this.known()
    const row = { seq, started_at: this.now }
    this.stepRuns.push({
      ...this.#rowOf(step, row),
      state: 'waiting',
      input: at.input,
      output: at.output ?? null,
      ended_at: null,
    })
    this.memory = { ...this.known(), seq: seq + 1, open: row }
    // The second instruction may need a part of the output, such as the id of the delivery.
    if (at.output !== undefined) this.#remember(step.id, { output: at.output })
    this.cursor += 1
    this.stopped = { kind: 'parked', state: at.state, due_at: at.due_at, wait: at.wait }
  }

  /** The delay has already ended. */
  unpark(): void {
    this.stopped = undefined
  }

  /** The delivery or the AI run has not ended yet. */
  lookAgain({ kind, id }: { readonly kind: 'delivery' | 'ai_run'; readonly id: string }, inMs: number): void {
    this.stopped = { kind: 'parked', state: 'waiting', due_at: this.now + inMs, wait: { kind, id } }
  }

  /** The time that the parked step has waited. */
  waitedMs(): number {
    return this.now - (this.known().open?.started_at ?? this.now)
  }

  outputOf(stepId: string): object {
    const output = this.known().steps[stepId]?.output
    return isMembers(output) ? output : {}
  }

  retain(stepId: string, emitted: Memory['emitted'][string]): void {
    this.memory = { ...this.known(), emitted: { ...this.known().emitted, [stepId]: emitted } }
  }

  succeed(
    step: Named,
    { output, input = null, next }: { readonly output: unknown; readonly input?: unknown; readonly next?: number },
  ): void {
    this.#close(step, { state: 'succeeded', output, input, error: null })
    this.#remember(step.id, { output })
    this.goTo(next ?? this.cursor + 1)
  }

  /** Tries the step again later, or passes over it, or ends the instance at it. */
  fail(step: Named, { reason, message, retryable = false }: Failing): void {
    const error: StepError = { step_id: step.id, reason, message }
    this.#close(step, { state: 'failed', output: null, input: null, error })
    const { attempts, backoffMs, passesOver } = policyOf(step)
    // The cursor returns to the step, so that a person can run it again too.
    this.cursor = this.#beginOf(step.id)
    if (retryable && this.attempt + 1 < attempts) {
      const pauseMs = Math.min(backoffMs * 2 ** this.attempt, HOUR_MS)
      this.attempt += 1
      this.stopped = { kind: 'parked', state: 'retrying', due_at: this.now + pauseMs, wait: null }
      return
    }
    if (!passesOver) return this.endAs('failed', error)
    this.#remember(step.id, { error })
    this.goTo(this.cursor + (step.type === 'emit_event' ? 1 : 2))
  }

  /** A delivery and an AI run have attempts themselves, so the step starts again only if the workflow asks for that. */
  failAwaited(step: Acting, failing: Failing): void {
    this.fail(step, { ...failing, retryable: step.retry !== undefined })
  }

  /** The outcome that the parked step waited for is not stored, so a retry starts the step again. */
  protected failOpen(error: StepError): void {
    const instruction = this.instance.program?.instructions[this.cursor]
    if ((this.memory?.open ?? null) === null || instruction === undefined || !('step' in instruction)) return
    const { step } = instruction
    this.#close(step, { state: 'failed', output: null, input: null, error: { step_id: step.id, ...error } })
    this.cursor = this.#beginOf(step.id)
  }

  goTo(cursor: number): void {
    this.cursor = cursor
    this.attempt = 0
    this.stopped = undefined
  }

  endAs(state: Extract<Stop, { kind: 'ended' }>['state'], error: StepError | null): void {
    this.stopped = { kind: 'ended', state, error }
  }

  /** Writes the memory, unless the instance has ended well. */
  protected seal(): void {
    if (this.memory === undefined || (this.stop.kind === 'ended' && this.stop.state !== 'failed')) return
    const text = stringifyJson(this.memory)
    if (text.length > MEMORY_CHARS_MAX) this.#endTooLarge()
    else this.memoryText = text
  }

  /** Without its memory the instance never continues, so its last step waits for nothing. */
  #endTooLarge(): void {
    this.endAs('failed', TOO_LARGE)
    this.aiRuns.length = 0
    for (const [index, row] of this.stepRuns.entries())
      if (row.state === 'waiting')
        this.stepRuns[index] = { ...row, state: 'failed', output: null, error: TOO_LARGE, ended_at: this.now }
  }

  #beginOf(stepId: string): number {
    const { instructions = [] } = this.instance.program ?? {}
    return instructions.findIndex((instruction) => 'step' in instruction && instruction.step.id === stepId)
  }

  #close(step: Named, end: Pick<StepRun, 'state' | 'output' | 'input' | 'error'>): void {
    const { open, seq } = this.known()
    const row = open ?? { seq, started_at: this.now }
    const made = { ...this.#rowOf(step, row), ...end, ended_at: this.now }
    // A delay until a time that has passed started in this very run.
    const begun = this.stepRuns.findIndex((one) => one.seq === row.seq)
    if (begun === -1) this.stepRuns.push(made)
    else this.stepRuns[begun] = { ...made, input: this.stepRuns[begun]?.input ?? null }
    this.memory = { ...this.known(), seq: Math.max(seq, row.seq + 1), open: null }
  }

  #rowOf(step: Named, { seq, started_at }: Row): Omit<StepRun, 'state' | 'input' | 'output' | 'ended_at'> {
    return { seq, step_id: step.id, type: step.type, attempt: this.attempt + 1, error: null, started_at }
  }

  #remember(stepId: string, value: Memory['steps'][string]): void {
    this.memory = { ...this.known(), steps: { ...this.known().steps, [stepId]: value } }
  }
}

const TOO_LARGE: StepError = {
  reason: 'context_too_large',
  message:
    'The payload and the outputs of the steps have more than 1 MiB in total. Emit smaller events, or wait for smaller ones.',
}

/** The number of attempts at a step, and whether the instance continues after the last one. */
function policyOf(step: Named): {
  readonly attempts: number
  readonly backoffMs: number
  readonly passesOver: boolean
} {
  if (!isActing(step)) return { attempts: 1, backoffMs: 0, passesOver: false }
  const { retry, on_error } = step
  return {
    attempts: retry?.max_attempts ?? LIMITS.workflowRetriesDefault,
    backoffMs: (retry?.backoff_seconds ?? LIMITS.workflowBackoffSecondsDefault) * SECOND_MS,
    passesOver: on_error === 'continue',
  }
}

const isActing = (step: Named): step is Acting => 'on_error' in step

export const iso = (ms: number): string => new Date(ms).toISOString()

export const isMembers = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
