import { encodeId, Steps, type Step } from '@postroad/contract'
import { compileWorkflow, type Program } from '../../src/pipeline/workflow/compile.ts'
import { Rng } from '../rng.ts'

/** Workflows of all six steps, the same in every run, because compiling them for each seed would be most of the work. */

const DEFINITIONS = 40
const UUID = '01890000-0000-7000-8000-000000000001'
/** Records of this dataset start workflows, also when a workflow emits them. */
export const ENTRY_DATASETS = ['d0', 'd1', 'd2'] as const
export const REPLIES = 'replies'

type Given = Readonly<Record<string, unknown>>

class Maker {
  readonly #rng: Rng
  #count = 0
  /** Steps whose record a later step may deliver. */
  readonly #emitted: string[] = []

  constructor(rng: Rng) {
    this.#rng = rng
  }

  steps(): Given[] {
    return Array.from({ length: this.#rng.int(2, 6) }, () => this.#step())
  }

  #step(): Given {
    const rng = this.#rng
    switch (rng.pick(['delay', 'wait', 'wait', 'branch', 'emit', 'emit', 'deliver', 'agent'] as const)) {
      case 'delay':
        return { ...this.#named('delay'), seconds: rng.int(1, 90) }
      case 'wait':
        return {
          ...this.#named('wait_for_event'),
          dataset: REPLIES,
          conditions: [
            { path: 'key', equals: '{{ payload.key }}' },
            ...(rng.chance(0.5) ? [{ path: 'ok', equals: true }] : []),
          ],
          ...(rng.chance(0.5) ? { since: 'now' } : {}),
          timeout_seconds: rng.int(2, 120),
          on_timeout: rng.pick(['continue', 'continue', 'stop', 'fail']),
        }
      case 'branch':
        return {
          ...this.#named('branch'),
          branches: [
            {
              name: 'big',
              conditions: [{ path: 'total', op: 'gte', value: 50 }],
              steps: [this.#acting(), this.#acting()],
            },
          ],
          ...(rng.chance(0.5) ? { else: [this.#acting()] } : {}),
        }
      case 'emit':
        return this.#emit(true)
      case 'deliver':
        return this.#deliver(rng.chance(0.5))
      case 'agent':
        return this.#agent()
    }
  }

  #acting(): Given {
    const kind = this.#rng.pick(['emit', 'emit', 'deliver', 'agent'] as const)
    return kind === 'emit' ? this.#emit(false) : kind === 'deliver' ? this.#deliver(false) : this.#agent()
  }

  #emit(always: boolean): Given {
    const step = {
      ...this.#named('emit_event'),
      ...this.#policy(),
      dataset: this.#rng.pick(['out', 'out', 'out', ...ENTRY_DATASETS, REPLIES]),
      data: { key: '{{ payload.key }}', ok: true, total: '{{ payload.total }}' },
    }
    if (always) this.#emitted.push(step.id)
    return step
  }

  #deliver(awaits: boolean): Given {
    const record = this.#rng.chance(0.5) ? this.#emitted.at(-1) : undefined
    return {
      ...this.#named('deliver'),
      ...this.#policy(),
      destination: encodeId('destination', UUID),
      ...(record === undefined ? {} : { record }),
      await: awaits ? 'delivered' : 'none',
    }
  }

  #agent(): Given {
    return {
      ...this.#named('run_agent'),
      ...this.#policy(),
      agent: encodeId('aiAgent', UUID),
      input: '{{ payload.key }}',
    }
  }

  #policy(): Given {
    const rng = this.#rng
    return {
      on_error: rng.pick(['fail', 'continue', 'continue']),
      ...(rng.chance(0.5) ? { retry: { max_attempts: rng.int(1, 4), backoff_seconds: rng.int(1, 20) } } : {}),
    }
  }

  #named(type: string): { readonly id: string; readonly type: string } {
    this.#count += 1
    return { id: `s${this.#count}`, type }
  }
}

export const DEFINITIONS_MADE: readonly Program[] = Array.from({ length: DEFINITIONS }, (_, index) => {
  const steps: readonly Step[] = Steps.parse(new Maker(new Rng(index + 1)).steps())
  return compileWorkflow({ name: `w${index}`, steps })
})
