import { WorkUsedUp } from '../../domain/work-budget.ts'
import type { Instruction } from './compile.ts'
import { TooHeavy } from './compute.ts'
import type { Emitted, StepError } from './instance.ts'
import { RunDraft } from './run-draft.ts'
import { beginAgent, endAgent } from './steps/run-agent.ts'
import { beginDelivery, endDelivery } from './steps/deliver.ts'
import { beginDelay, endDelay } from './steps/delay.ts'
import { beginWait, endWait } from './steps/wait-for-event.ts'
import { emit, emitted } from './steps/emit-event.ts'
import { takeBranch } from './steps/branch.ts'

/**
 * One claimed instance on the way to its next stop. It is pure: the same instance, means and outcomes give the same rows. It
 * collects everything that the settling commit writes.
 */
export class InstanceRun extends RunDraft {
  #isFailing = false

  /** Runs to the next stop. Throws `TooHeavy` for a computation that must be done first. */
  advance(): this {
    const { program } = this.instance
    if (program === undefined) this.endAs('cancelled', GONE)
    else if (program.unreadable === true) this.endAs('failed', NO_DEFINITION)
    else if (this.memory === undefined) this.endAs('failed', NO_RECORD)
    else this.#runAll(program.instructions)
    this.seal()
    return this
  }

  /**
   * The run after its event was stored or refused, up to the next stop. The run itself stays as it is, because a commit may be
   * tried again.
   */
  emitted(outcome: Emitted): InstanceRun {
    const next = new InstanceRun(this.instance, this.means)
    next.stepRuns.push(...this.stepRuns)
    next.deliveries.push(...this.deliveries)
    next.aiRuns.push(...this.aiRuns)
    next.cursor = this.cursor
    next.attempt = this.attempt
    next.memory = this.memory
    const instruction = this.instance.program?.instructions[this.cursor]
    if (instruction?.do !== 'emit') throw new Error('A run that emits nothing got the outcome of an event.')
    emitted(next, { instruction, outcome })
    try {
      return next.advance()
    } catch (error) {
      if (!(error instanceof TooHeavy)) throw error
      return next.#later()
    }
  }

  /** The next claim continues at this step, because a commit does not wait for a thread. */
  #later(): this {
    this.stopped = { kind: 'parked', state: 'retrying', due_at: this.now, wait: null }
    this.seal()
    return this
  }

  /** The rest of an instance after a commit that left it running: nothing of it is written a second time. */
  continued(): InstanceRun {
    const { cursor, attempt, memory } = this
    const run = new InstanceRun({ ...this.instance, cursor, attempt, memory }, this.means)
    run.stopped = this.stopped
    run.memoryText = this.memoryText
    return run
  }

  /** Whether the run states only that the instance has failed. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** The instance as it was claimed, failed for a fault of the server. A retry runs the same step again. */
  failing(reason: keyof typeof FAULTS): InstanceRun {
    const run = new InstanceRun(this.instance, this.means)
    const error = { reason, message: FAULTS[reason] }
    run.#isFailing = true
    run.failOpen(error)
    run.endAs('failed', error)
    run.seal()
    return run
  }

  #runAll(instructions: readonly Instruction[]): void {
    try {
      while (this.stopped === undefined) {
        const instruction = instructions[this.cursor]
        if (instruction === undefined) this.endAs('completed', null)
        else perform(this, instruction)
      }
    } catch (error) {
      if (!(error instanceof WorkUsedUp)) throw error
      this.endAs('failed', TOO_MUCH_WORK)
    }
  }
}

function perform(run: RunDraft, instruction: Instruction): void {
  switch (instruction.do) {
    case 'delay':
      return beginDelay(run, instruction)
    case 'delay_end':
      return endDelay(run, instruction)
    case 'wait':
      return beginWait(run, instruction)
    case 'wait_end':
      return endWait(run, instruction)
    case 'branch':
      return takeBranch(run, instruction)
    case 'jump':
      run.cursor = instruction.to
      return
    case 'deliver':
      return beginDelivery(run, instruction)
    case 'deliver_end':
      return endDelivery(run, instruction)
    case 'emit':
      return emit(run, instruction)
    case 'agent':
      return beginAgent(run, instruction)
    case 'agent_end':
      return endAgent(run, instruction)
  }
}

/** Faults of the server, which are not outcomes of a step. */
const FAULTS = {
  not_stored: 'The database refused the result of the step. The server log contains the cause.',
  internal: 'The server could not run the step. The server log contains the cause.',
} as const

const TOO_MUCH_WORK: StepError = {
  reason: 'too_much_work',
  message: 'The conditions of a branch need more work for this event than one step can use.',
}
const NO_DEFINITION: StepError = {
  reason: 'definition_unreadable',
  message:
    'This version of the server cannot read the definition. Replace the workflow, and run it on the record again.',
}
const GONE: StepError = { reason: 'workflow_deleted', message: 'The workflow was deleted.' }
const NO_RECORD: StepError = {
  reason: 'record_not_found',
  message: 'The record that started the workflow was deleted before its first step.',
}
