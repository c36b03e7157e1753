import type { Deps } from '../../context.ts'
import { WorkCounter } from '../../domain/work-budget.ts'
import type { Directory, ProjectPlan } from '../directory.ts'
import { TooHeavy, type Computed } from './compute.ts'
import { InstanceRun } from './instance-run.ts'
import { WORKFLOW_LIMITS, WorkflowMachine } from './machine.ts'
import type { Instance, Place } from './instance.ts'
import type { Answer, Effect, Event } from './ports.ts'
import { createWorkflowStore, type WorkflowStoreParts } from './postgres-store.ts'

export type WorkflowEngine = {
  /**
   * Does all work that is due. Resolves when nothing is left, to the number of instances that ran; rejects when the database
   * refused a part of it.
   */
  look(): Promise<number>
  /** False while instances run outside of a look. */
  isAtRest(): boolean
  /** Instances started, records were stored, or a workspace was suspended or reinstated. Only a hint: it makes the engine look sooner. */
  readonly hint: (about: Extract<Event, { type: 'hinted' }>['about']) => void
  /** Claims nothing new. Commits under way end, and every other claim is given back. */
  stop(): void
}

/** Hints about records are gathered for this long. */
const GATHER_MS = 25
/** A look with more work than this returns, so that the loop can report that it runs. */
const LOOK_MS_MAX = 5_000

/** Drives the workflow machine: turns its effects into I/O, and the answers into events. It makes no decision itself. */
export function createWorkflowEngine(deps: Deps, parts: WorkflowStoreParts): WorkflowEngine {
  const machine = new WorkflowMachine({ limits: WORKFLOW_LIMITS })
  const store = createWorkflowStore(deps, parts)
  let rested = Promise.withResolvers<void>()
  let started = false
  let stopping = false
  let isGathering = false
  let ran = 0

  // The machine's time never goes back, even if the database's clock does.
  let latest = -Infinity
  const handle = (event: Event): void => {
    latest = Math.max(latest, deps.clock.now())
    for (const effect of machine.handle(event, latest)) perform(effect)
  }
  const ask = <T>(operation: Promise<Answer<T>>, event: (answer: Answer<T>) => Event): void =>
    void operation.then((answer) => handle(event(answer)))
  const perform = (effect: Effect): void => {
    const { type } = effect
    switch (type) {
      case 'claim':
        return ask(store.claim(effect.input), (answer) => ({ type: 'claimed', op: effect.op, answer }))
      case 'advance':
        ran += effect.instances.length
        return void advance(deps, { directory: parts.directory, instances: effect.instances }).then((runs) =>
          handle({ type: 'advanced', op: effect.op, runs }),
        )
      case 'settle':
        return ask(store.settle(effect.runs), (answer) => ({ type: 'settled', op: effect.op, answer }))
      case 'release':
        return ask(store.release(effect.held), (answer) => ({ type: 'released', op: effect.op, answer }))
      case 'match':
        return ask(store.match(), (answer) => ({ type: 'matched', op: effect.op, answer }))
      case 'move':
        return ask(store.move(), (answer) => ({ type: 'moved', op: effect.op, answer }))
      case 'rested':
        return rested.resolve()
    }
  }

  return {
    look: async () => {
      started = true
      const before = ran
      rested = Promise.withResolvers<void>()
      handle({ type: 'woke' })
      const limit = Promise.withResolvers<void>()
      const cancel = deps.clock.wakeAt(deps.clock.now() + LOOK_MS_MAX, limit.resolve)
      await Promise.race(stopping ? [rested.promise] : [rested.promise, limit.promise])
      cancel()
      if (machine.load.failing) throw new Error('The database refused a part of the work of workflows.')
      return ran - before
    },
    isAtRest: () => machine.rested,
    hint: (about) => {
      if (!started || stopping) return
      if (about !== 'records') return handle({ type: 'hinted', about })
      // Under load, one look serves many commits.
      if (isGathering) return
      isGathering = true
      deps.clock.wakeAt(deps.clock.now() + GATHER_MS, () => {
        isGathering = false
        if (!stopping) handle({ type: 'hinted', about })
      })
    },
    stop: () => {
      stopping = true
      handle({ type: 'stop' })
    },
  }
}

/** About ten milliseconds for all instances of a claim. */
const LOOP_WORK = 4_194_304

/** Runs claimed instances to their stops. Threads do what needs more work than the loop has for them. */
async function advance(
  deps: Deps,
  { directory, instances }: { readonly directory: Directory; readonly instances: readonly Instance[] },
): Promise<readonly InstanceRun[]> {
  const runs: InstanceRun[] = []
  const work = new WorkCounter(LOOP_WORK)
  for (const instance of instances) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- the plan is in memory, nearly always
      const plan = await directory.plan(instance.project_id, instance.workspace_id)
      // oxlint-disable-next-line no-await-in-loop -- one after another
      runs.push(await advanced(deps, { instance, plan, computed: { values: new Map(), work } }))
    } catch (cause) {
      // The project could not be read, or a thread was not to be had. The lease expires, and the instance runs again.
      deps.retryLog.warn('workflows.instance_waits', { instance_id: instance.id, cause })
    }
  }
  return runs
}

type Advancing = { readonly instance: Instance; readonly plan: ProjectPlan | undefined; readonly computed: Computed }

/**
 * Runs an instance again after each computation of a thread. A run is pure, so it comes back to the same step. If the engine itself fails
 * on an instance, it would fail again, so the instance ends there, where people see it.
 */
async function advanced(deps: Deps, { instance, plan, computed }: Advancing): Promise<InstanceRun> {
  for (;;) {
    const run = new InstanceRun(instance, {
      now: deps.clock.now(),
      uuid: deps.uuid,
      place: placeOf(plan),
      computed,
    })
    try {
      return run.advance()
    } catch (cause) {
      if (!(cause instanceof TooHeavy)) {
        deps.log.error('workflows.instance_failed', { instance_id: instance.id, cause })
        return run.failing('internal')
      }
      // oxlint-disable-next-line no-await-in-loop -- the run needs it to continue
      computed.values.set(cause.key, await cause.inThread(deps.heavy))
    }
  }
}

function placeOf(plan: ProjectPlan | undefined): Place {
  return {
    destination: (id) => plan?.destinations.items.find((destination) => destination.id === id),
    counted: plan !== undefined && plan.limits.deliveries_per_month !== null,
  }
}
