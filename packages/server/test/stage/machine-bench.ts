import assert from 'node:assert/strict'
import { DELIVER_LIMITS } from '../../src/pipeline/deliver/limits.ts'
import { DeliveryMachine } from '../../src/pipeline/deliver/machine.ts'
import type { DeliverLimits } from '../../src/pipeline/deliver/limits.ts'
import { NO_OTHERS } from '../../src/domain/delivery/fair-share.ts'
import type {
  Begun,
  Effect,
  Event,
  Grant,
  LaneSettings,
  Leased,
  SendResult,
  TurnInput,
} from '../../src/pipeline/deliver/ports.ts'

export type EffectOf<Type extends Effect['type']> = Extract<Effect, { readonly type: Type }>

export const OK = { type: 'response', status: 200, retry_after_seconds: null } satisfies SendResult
export const SETTINGS: LaneSettings = {
  max_in_flight: 2,
  schedule_seconds: [0, 5, 30],
  timeout_ms: 15_000,
  rate_limit: null,
  breaker_resets: 0,
  probes_asked: 0,
  ordered: false,
}

export const leasedOf = (grants: readonly Grant[], others = NO_OTHERS): Leased => ({
  alive: true,
  grants,
  elsewhere: [],
  more: false,
  others,
  left: false,
})

/** The lane `w/a` belongs to the workspace `w`, and the lane `a` is the only one of the workspace `a`. */
const workspaceOf = (lane: string): string => lane.split('/', 1)[0] ?? lane

/** A machine with a clock that the test sets, and a small store that obeys; the test decides which calls it refuses. */
export class Bench {
  readonly machine: DeliveryMachine
  now = 0
  /** The settings that reads bring. */
  settings = SETTINGS
  sent: Begun[] = []
  log: Effect[] = []

  constructor(limits: Partial<DeliverLimits> = {}) {
    this.machine = new DeliveryMachine({
      owner: 'p',
      random: () => 0.5,
      limits: { ...DELIVER_LIMITS, settleWaitMs: 0, ...limits },
    })
  }

  dispatch(event: Event): Effect[] {
    const effects = this.machine.handle(event, this.now)
    this.log.push(...effects)
    for (const effect of effects) if (effect.type === 'send') this.sent.push(effect.attempt)
    return effects
  }

  /** Wakes the machine, grants these lanes, and answers its reads with these deliveries. */
  begin(
    due: Readonly<Record<string, readonly string[]>>,
    settings = SETTINGS,
    orphans_end_in_ms: readonly number[] = [],
  ): Effect[] {
    const lease = find(this.dispatch({ type: 'woke' }), 'lease')
    const grants = Object.keys(due).map((lane) => ({
      lane,
      fence: 1,
      workspace: workspaceOf(lane),
      settings,
      memory: null,
      orphans_end_in_ms,
    }))
    const value = leasedOf(grants)
    return this.answerReads(this.dispatch({ type: 'leased', op: lease.op, answer: { outcome: 'done', value } }), due)
  }

  answerReads(
    effects: readonly Effect[],
    due: Readonly<Record<string, readonly string[]>>,
    next_due_in_ms: number | null = null,
  ): Effect[] {
    return all(effects, 'read').flatMap(({ op, input }) => {
      const lanes = input.reads.map(({ lane, fence }) => ({
        lane,
        fence,
        status: 'held' as const,
        settings: this.settings,
        due: due[lane] ?? [],
        next_due_in_ms,
      }))
      return this.dispatch({ type: 'read', op, answer: { outcome: 'done', value: { lanes } } })
    })
  }

  /** The store commits the whole turn. */
  commit({ op, input }: EffectOf<'turn'>): Effect[] {
    const value = { begun: begunOf(input), applied: [], paused: [], lost: [] }
    return this.dispatch({ type: 'turned', op, answer: { outcome: 'done', value } })
  }

  respond(attempt_id: string, result: SendResult = OK): Effect[] {
    return this.dispatch({ type: 'responded', attempt_id, result })
  }
}

function begunOf(input: TurnInput): Begun[] {
  return input.begins.map(({ lane, fence, delivery_id }) => {
    const attempt_id = `${delivery_id}#1`
    return { lane, fence, delivery_id, attempt_id, record_id: delivery_id, attempt_number: 1, failure_count: 0 }
  })
}

export function all<Type extends Effect['type']>(effects: readonly Effect[], type: Type): EffectOf<Type>[] {
  return effects.filter((effect): effect is EffectOf<Type> => effect.type === type)
}

export function find<Type extends Effect['type']>(effects: readonly Effect[], type: Type): EffectOf<Type> {
  const [effect] = all(effects, type)
  assert.ok(effect, `no ${type} in ${JSON.stringify(effects)}`)
  return effect
}

export const deliveriesOf = (effects: readonly Effect[]) =>
  find(effects, 'turn').input.begins.map((begin) => begin.delivery_id)
