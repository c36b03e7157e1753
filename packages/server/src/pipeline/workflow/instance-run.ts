import { decodeId, encodeId, LIMITS } from '@postroad/contract'
import { readPath } from '../../domain/routing/dot-path.ts'
import { stringifyJson } from '../../domain/json/json-text.ts'
import { WorkBudget, WorkUsedUp } from '../../domain/work-budget.ts'
import { beginWait } from './begin-wait.ts'
import type { Acting, Instruction } from './compile.ts'
import type {
  AiRunOut,
  DeliveryOut,
  Emission,
  Emitted,
  Instance,
  Memory,
  Place,
  StepError,
  StepRun,
  Stop,
  Wait,
} from './ports.ts'
import type { Scope, Template } from './template.ts'

/** What a run may use besides its instance: the time, ids, and the project. */
export type Means = { readonly now: number; readonly uuid: () => string; readonly place: Place }

type Do<Kind extends Instruction['do']> = Extract<Instruction, { readonly do: Kind }>
type Failing = { readonly reason: string; readonly message: string; readonly retryable?: boolean }

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000
/** The first look at an awaited delivery. Each further one comes after twice the time, up to a minute. */
const LOOK_MS = 1_000
const LOOK_MS_MAX = 60_000
/** The commit that ends an AI run wakes its instance. This look only makes up for a lost wake. */
const RUN_LOOK_MS = 300_000
const BRANCH_WORK_MAX = 50_000_000

/**
 * One claimed instance on the way to its next stop. It is pure: the same instance, means and outcomes give the same rows. It
 * collects everything that the settling commit writes.
 */
export class InstanceRun {
  readonly instance: Instance
  readonly #means: Means
  readonly stepRuns: StepRun[] = []
  readonly deliveries: DeliveryOut[] = []
  readonly aiRuns: AiRunOut[] = []
  cursor: number
  attempt: number
  /** undefined: the instance has never run, and its record is gone. */
  memory: Memory | undefined
  #stop: Stop | undefined

  constructor(instance: Instance, means: Means) {
    this.instance = instance
    this.#means = means
    this.cursor = instance.cursor
    this.attempt = instance.attempt
    this.memory = instance.memory
  }

  /** Where it stopped. */
  get stop(): Stop {
    if (this.#stop === undefined) throw new Error('A run was settled before it was advanced.')
    return this.#stop
  }

  get now(): number {
    return this.#means.now
  }

  get emission(): Emission | undefined {
    return this.#stop?.kind === 'emitting' ? this.#stop.emission : undefined
  }

  /** Runs to the next stop. */
  advance(): this {
    const { program } = this.instance
    if (program === undefined) return this.#endAs('cancelled', GONE)
    if (this.memory === undefined) return this.#endAs('failed', NO_RECORD)
    try {
      while (this.#stop === undefined) {
        const instruction = program.instructions[this.cursor]
        if (instruction === undefined) this.#endAs('completed', null)
        else this.#perform(instruction)
      }
    } catch (error) {
      if (!(error instanceof WorkUsedUp)) throw error
      this.#endAs('failed', TOO_MUCH_WORK)
    }
    return this.#limited()
  }

  /** The memory as JSON text; null: nothing of it is needed any more. */
  get memoryText(): string | null {
    return this.#memoryText
  }

  #memoryText: string | null = null

  #limited(): this {
    if (this.stop.kind === 'ended' && this.stop.state !== 'failed') return this
    const text = stringifyJson(this.memory)
    if (text.length > MEMORY_CHARS_MAX) return this.#endAs('failed', TOO_LARGE)
    this.#memoryText = text
    return this
  }

  /**
   * The run after its event was stored or refused, up to the next stop. The run itself stays as it is, because a commit may be
   * tried again.
   */
  emitted(outcome: Emitted): InstanceRun {
    const next = new InstanceRun(this.instance, this.#means)
    next.stepRuns.push(...this.stepRuns)
    next.deliveries.push(...this.deliveries)
    next.aiRuns.push(...this.aiRuns)
    next.cursor = this.cursor
    next.attempt = this.attempt
    next.memory = this.memory
    const instruction = this.instance.program?.instructions[this.cursor]
    if (instruction?.do !== 'emit') throw new Error('A run that emits nothing got the outcome of an event.')
    if (!outcome.ok) next.#fail(instruction.step, { ...outcome, retryable: true })
    else next.#stored(instruction, outcome.record_id)
    return next.advance()
  }

  /** The rest of an instance after a commit that left it running: nothing of it is written a second time. */
  continued(): InstanceRun {
    const { cursor, attempt, memory } = this
    const run = new InstanceRun({ ...this.instance, cursor, attempt, memory }, this.#means)
    run.#stop = this.#stop
    run.#memoryText = this.#memoryText
    return run
  }

  #perform(instruction: Instruction): void {
    switch (instruction.do) {
      case 'delay':
        return this.#delay(instruction)
      case 'delay_end':
        return this.#succeed(instruction.step, { output: { woke_at: iso(this.now) } })
      case 'wait':
        return this.#wait(instruction)
      case 'wait_end':
        return this.#waitEnd(instruction)
      case 'branch':
        return this.#branch(instruction)
      case 'jump':
        this.cursor = instruction.to
        return
      case 'deliver':
        return this.#deliver(instruction)
      case 'deliver_end':
        return this.#deliverEnd(instruction)
      case 'emit':
        return this.#emit(instruction)
      case 'agent':
        return this.#agent(instruction)
      case 'agent_end':
        return this.#agentEnd(instruction)
    }
  }

  #delay({ step, until }: Do<'delay'>): void {
    const at = until === undefined ? this.now + (step.seconds ?? 0) * SECOND_MS : this.#timeOf(until)
    if (typeof at !== 'number') return this.#fail(step, at)
    const latest = this.now + LIMITS.workflowSecondsMax * SECOND_MS
    if (at > latest)
      return this.#fail(step, { reason: 'too_late', message: `until: is more than ${LIMITS.workflowSecondsMax / 86_400} days ahead.` })
    this.#park(step, { state: 'sleeping', due_at: Math.max(at, this.now), wait: null, input: { until: iso(at) } })
    // A time that has passed continues at once.
    if (at <= this.now) this.#stop = undefined
  }

  #timeOf(until: Template): number | Failing {
    const made = until(this.#scope())
    if (!made.ok) return { reason: 'template_failed', message: made.error }
    const at = typeof made.value === 'string' && RFC_3339.test(made.value) ? Date.parse(made.value) : Number.NaN
    return Number.isNaN(at)
      ? { reason: 'invalid_time', message: 'until: renders no RFC 3339 time, such as 2030-01-31T09:00:00Z.' }
      : at
  }

  #wait({ step, values }: Do<'wait'>): void {
    const begun = beginWait(step, { values, scope: this.#scope() })
    if (!begun.ok) return this.#fail(step, { reason: 'template_failed', message: begun.error })
    const due_at = this.now + step.timeout_seconds * SECOND_MS
    const { dataset, conditions } = begun.wait
    const input = { dataset, conditions, timeout_at: iso(due_at) }
    this.#park(step, { state: 'waiting', due_at, wait: begun.wait, input })
  }

  #waitEnd({ step }: Do<'wait_end'>): void {
    const { awaited } = this.instance
    if (awaited?.kind === 'event') {
      const { record_id, received_at, payload } = awaited
      const output = { timed_out: false, record_id: encodeId('record', record_id), received_at, payload: payload ?? null }
      return this.#succeed(step, { output })
    }
    if (step.on_timeout === 'fail')
      return this.#fail(step, { reason: 'wait_timed_out', message: `No event arrived within ${step.timeout_seconds} seconds.` })
    this.#succeed(step, { output: { timed_out: true, record_id: null, received_at: null, payload: null } })
    if (step.on_timeout === 'stop') this.#endAs('completed', null)
  }

  #branch({ step, of, arms, otherwise, end }: Do<'branch'>): void {
    const document = of.length === 0 ? this.#memory.payload : readPath({ steps: this.#memory.steps }, of)
    const budget = new WorkBudget(BRANCH_WORK_MAX)
    const spend = (work: number): undefined => void budget.spend(work)
    const arm = arms.find(({ conditions }) => {
      // The budget never makes it wait, so one step runs it to its end.
      const found = conditions.firstFailure(document, spend).next()
      return found.done === true && found.value === undefined
    })
    const hasElse = step.else !== undefined
    this.#succeed(step, { output: { taken: arm?.name ?? (hasElse ? 'else' : null) }, next: arm?.at ?? (hasElse ? otherwise : end) })
  }

  #emit({ step, data }: Do<'emit'>): void {
    const made = data === undefined ? { ok: true as const, value: this.#memory.payload } : data(this.#scope())
    if (!made.ok) return this.#fail(step, { reason: 'template_failed', message: made.error })
    this.#stop = { kind: 'emitting', emission: { step_id: step.id, dataset: step.dataset, text: stringifyJson(made.value) } }
  }

  #stored({ step, data, retained }: Do<'emit'>, recordId: string): void {
    if (retained) {
      // The payload is rendered again, which gives the same value, because a run is pure.
      const made = data === undefined ? { ok: true as const, value: this.#memory.payload } : data(this.#scope())
      const payload = made.ok ? made.value : null
      const emitted = { ...this.#memory.emitted, [step.id]: { record_id: recordId, payload } }
      this.memory = { ...this.#memory, emitted }
    }
    this.#succeed(step, { output: { record_id: encodeId('record', recordId) }, input: { dataset: step.dataset } })
  }

  #deliver({ step }: Do<'deliver'>): void {
    const sent = this.#sentBy(step)
    if ('reason' in sent) return this.#fail(step, sent)
    const destinationId = decodeId('destination', step.destination)
    const { place, uuid } = this.#means
    const destination = destinationId === undefined ? undefined : place.destination(destinationId)
    if (destinationId === undefined || destination === undefined)
      return this.#fail(step, { reason: 'destination_not_found', message: 'The destination of this step does not exist any more.' })
    const id = uuid()
    this.deliveries.push({
      id,
      record_id: sent.record_id,
      destination_id: destinationId,
      // The loop that releases waiting deliveries counts them in the month.
      pause_reason: !destination.enabled ? 'destination_disabled' : place.counted ? 'allowance_used' : null,
      order_key: destination.orderKeyOf?.(sent.payload, sent.record_id) ?? null,
    })
    const input = { destination: step.destination, record_id: encodeId('record', sent.record_id) }
    const output = { delivery_id: encodeId('delivery', id) }
    if (step.await === 'none') return this.#succeed(step, { output, input, next: this.cursor + 2 })
    this.#park(step, { state: 'waiting', due_at: this.now + LOOK_MS, wait: { kind: 'delivery', id }, input, output })
  }

  #sentBy({ record }: Do<'deliver'>['step']): { readonly record_id: string; readonly payload: unknown } | Failing {
    if (record !== undefined) {
      const emitted = this.#memory.emitted[record]
      return emitted ?? { reason: 'record_not_found', message: `The step "${record}" stored no record, so there is nothing to deliver.` }
    }
    const { record: own, record_stored } = this.instance
    return record_stored
      ? { record_id: own.id, payload: this.#memory.payload }
      : { reason: 'record_not_found', message: 'The record that started the workflow was deleted after its retention.' }
  }

  #deliverEnd({ step }: Do<'deliver_end'>): void {
    const { awaited } = this.instance
    const delivery = awaited?.kind === 'delivery' ? awaited : undefined
    if (delivery?.state === undefined)
      return this.#failAwaited(step, { reason: 'delivery_not_found', message: 'The delivery was deleted after its retention.' })
    switch (delivery.state) {
      case 'delivered': {
        const { last_status, response_body } = delivery
        const output = {
          ...this.#outputOfOpen(),
          status: 'delivered',
          response_status: last_status,
          ...(step.capture_response ? { response_body: jsonOrNull(response_body) } : {}),
        }
        return this.#succeed(step, { output })
      }
      case 'failed':
      case 'cancelled':
        return this.#failAwaited(step, { reason: `delivery_${delivery.state}`, message: `The delivery ended as ${delivery.state}.` })
      case 'pending':
      case 'sending':
      case 'retrying':
      case 'paused':
        return this.#lookAgain(delivery, Math.min(Math.max(this.#waitedMs(), LOOK_MS), LOOK_MS_MAX))
    }
  }

  #agent({ step, input }: Do<'agent'>): void {
    const made = input === undefined ? { ok: true as const, value: this.#memory.payload } : input(this.#scope())
    if (!made.ok) return this.#fail(step, { reason: 'template_failed', message: made.error })
    const agentId = decodeId('aiAgent', step.agent)
    if (agentId === undefined)
      return this.#fail(step, { reason: 'agent_not_found', message: 'The AI agent of this step does not exist any more.' })
    const id = this.#means.uuid()
    const { output_schema, max_steps, timeout_seconds } = step
    this.aiRuns.push({
      id,
      agent_id: agentId,
      step_id: step.id,
      request: { input: made.value, output_schema, max_steps, timeout_seconds },
    })
    const due_at = this.now + RUN_LOOK_MS
    const output = { run_id: encodeId('aiRun', id) }
    this.#park(step, { state: 'waiting', due_at, wait: { kind: 'ai_run', id }, input: { agent: step.agent }, output })
  }

  #agentEnd({ step }: Do<'agent_end'>): void {
    const { awaited } = this.instance
    const run = awaited?.kind === 'ai_run' ? awaited : undefined
    switch (run?.state) {
      case 'succeeded': {
        const output = isMembers(run.output) ? run.output : { text: run.output }
        return this.#succeed(step, { output: { ...this.#outputOfOpen(), ...output } })
      }
      case 'queued':
      case 'running':
        return this.#lookAgain(run, RUN_LOOK_MS)
      default:
        return this.#failAwaited(step, {
          reason: run?.state === undefined ? 'ai_run_not_found' : `ai_run_${run.state}`,
          message: messageOf(run?.error) ?? `The AI run ended as ${run?.state ?? 'deleted'}.`,
        })
    }
  }

  // ---- the parts that steps share

  get #memory(): Memory {
    if (this.memory === undefined) throw new Error('An instance without memory cannot run.')
    return this.memory
  }

  #scope(): Scope {
    const { workflow, program, record, id } = this.instance
    const { payload, steps, received_at } = this.#memory
    return {
      payload,
      record: { id: encodeId('record', record.id), dataset: record.dataset, received_at },
      steps,
      workflow: {
        id: encodeId('workflow', workflow.id),
        name: program?.name ?? '',
        version: workflow.version,
      },
      now: iso(this.now),
    }
  }

  #park(
    step: { readonly id: string; readonly type: string },
    at: {
      readonly state: 'sleeping' | 'waiting'
      readonly due_at: number
      readonly wait: Wait | null
      readonly input: unknown
      readonly output?: unknown
    },
  ): void {
    const { seq } = this.#memory
    this.stepRuns.push({
      ...this.#rowOf(step, { seq, started_at: this.now }),
      state: 'waiting',
      input: at.input,
      output: at.output ?? null,
      ended_at: null,
    })
    this.memory = { ...this.#memory, seq: seq + 1, open: { seq, started_at: this.now } }
    // A later instruction may need a part of the output, such as the id of the delivery.
    if (at.output !== undefined) this.#remember(step.id, { output: at.output })
    this.cursor += 1
    this.#stop = { kind: 'parked', state: at.state, due_at: at.due_at, wait: at.wait }
  }

  /** It has not ended yet. */
  #lookAgain({ kind, id }: { readonly kind: 'delivery' | 'ai_run'; readonly id: string }, inMs: number): void {
    this.#stop = { kind: 'parked', state: 'waiting', due_at: this.now + inMs, wait: { kind, id } }
  }

  #waitedMs(): number {
    return this.now - (this.#memory.open?.started_at ?? this.now)
  }

  #outputOfOpen(): object {
    const step = this.instance.program?.instructions[this.cursor]
    const output = step !== undefined && 'step' in step ? this.#memory.steps[step.step.id]?.output : undefined
    return isMembers(output) ? output : {}
  }

  #succeed(
    step: { readonly id: string; readonly type: string },
    { output, input = null, next }: { readonly output: unknown; readonly input?: unknown; readonly next?: number },
  ): void {
    this.#close(step, { state: 'succeeded', output, input, error: null })
    this.#remember(step.id, { output })
    this.#goTo(next ?? this.cursor + 1)
  }

  #failAwaited(step: Acting, failing: Failing): void {
    // A delivery and an AI run have tries of their own, so the step begins again only where the workflow asks for that.
    this.#fail(step, { ...failing, retryable: step.retry !== undefined })
  }

  /** A step that may not be tried again ends the instance, or is passed over. */
  #fail(step: Acting | Do<'delay'>['step'] | Do<'wait'>['step'], { reason, message, retryable = false }: Failing): void {
    const error: StepError = { step_id: step.id, reason, message }
    this.#close(step, { state: 'failed', output: null, input: null, error })
    const begin = this.#beginOf(step.id)
    const { attempts, backoffMs, passesOver } = policyOf(step)
    if (retryable && this.attempt + 1 < attempts) {
      const pauseMs = Math.min(backoffMs * 2 ** this.attempt, HOUR_MS)
      this.attempt += 1
      this.cursor = begin
      this.#stop = { kind: 'parked', state: 'retrying', due_at: this.now + pauseMs, wait: null }
      return
    }
    if (passesOver) {
      this.#remember(step.id, { error })
      this.#goTo(begin + (step.type === 'emit_event' ? 1 : 2))
      return
    }
    // The cursor stays at the step, so that a person can run it again.
    this.cursor = begin
    this.#endAs('failed', error)
  }

  #beginOf(stepId: string): number {
    const { instructions = [] } = this.instance.program ?? {}
    return instructions.findIndex((instruction) => 'step' in instruction && instruction.step.id === stepId)
  }

  #goTo(cursor: number): void {
    this.cursor = cursor
    this.attempt = 0
    this.#stop = undefined
  }

  #close(
    step: { readonly id: string; readonly type: string },
    end: Pick<StepRun, 'state' | 'output' | 'input' | 'error'>,
  ): void {
    const { open, seq } = this.#memory
    const row = open ?? { seq, started_at: this.now }
    const made = { ...this.#rowOf(step, row), ...end, ended_at: this.now }
    // A delay until a time that has passed began in this very run.
    const begun = this.stepRuns.findIndex((one) => one.seq === row.seq)
    if (begun === -1) this.stepRuns.push(made)
    else this.stepRuns[begun] = { ...made, input: this.stepRuns[begun]?.input ?? null }
    this.memory = { ...this.#memory, seq: Math.max(seq, row.seq + 1), open: null }
  }

  #rowOf(
    step: { readonly id: string; readonly type: string },
    { seq, started_at }: { readonly seq: number; readonly started_at: number },
  ): Omit<StepRun, 'state' | 'input' | 'output' | 'ended_at'> {
    return { seq, step_id: step.id, type: step.type, attempt: this.attempt + 1, error: null, started_at }
  }

  #remember(stepId: string, value: Memory['steps'][string]): void {
    this.memory = { ...this.#memory, steps: { ...this.#memory.steps, [stepId]: value } }
  }

  #endAs(state: Extract<Stop, { kind: 'ended' }>['state'], error: StepError | null): this {
    this.#stop = { kind: 'ended', state, error }
    return this
  }
}

const MEMORY_CHARS_MAX = 1_048_576
const TOO_LARGE: StepError = {
  reason: 'context_too_large',
  message: 'The payload and the outputs of the steps have more than 1 MiB together. Emit or wait for smaller events.',
}
const TOO_MUCH_WORK: StepError = {
  reason: 'too_much_work',
  message: 'The conditions of a branch need more work for this event than one step may use.',
}
const GONE: StepError = { reason: 'workflow_deleted', message: 'The workflow was deleted.' }
const NO_RECORD: StepError = {
  reason: 'record_not_found',
  message: 'The record that started the workflow was deleted before its first step.',
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** How often a step is tried, and what happens after the last try. */
function policyOf(step: { readonly type: string }): {
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

const isActing = (step: { readonly type: string }): step is Acting => 'on_error' in step

const iso = (ms: number): string => new Date(ms).toISOString()

const isMembers = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

function messageOf(error: unknown): string | undefined {
  return isMembers(error) && 'message' in error && typeof error.message === 'string' ? error.message : undefined
}

/** The longest response that becomes an output. */
const RESPONSE_CHARS_MAX = 65_536

function jsonOrNull(text: string | null): unknown {
  if (text === null || text.length > RESPONSE_CHARS_MAX) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
