import { setTimeout as sleep } from 'node:timers/promises'
import { encodeId } from '@postroad/contract'
import { Rng } from '../../sim/rng.ts'
import { asked } from '../asked.ts'
import { duplicatesBounded, factsOf, promise, ROAD_CHECKS, type Finding } from '../checks.ts'
import { closeBreakers } from '../destinations.ts'
import type { DestinationFact, Evidence } from '../evidence.ts'
import { counted, loadFigures } from '../figures.ts'
import { createNemesis } from '../nemesis.ts'
import { expireClaims, missedWakes, workflowInstances, type InstanceRow } from '../queries.ts'
import { sendThrough } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Stage } from '../stage.ts'
import { storm } from '../storm.ts'

const ORDERS = 'orders'
/** The datasets that the workflows file into, once for each order. */
const EMITTED = ['notes', 'closings', 'pairs'] as const
/** Nothing goes into this dataset, so only a step of a workflow delivers to a destination for it. */
const NOTHING = 'nothing'
/** The destination of the step `deliver`. */
const STEP = 'step'
const PROCESSES = 2
/** Within this time every process knows a new workflow. */
const KNOWN_MS = 2_000
/** The lease of a dead process, and the time for the instances that it had claimed. */
const DRAIN_MS = 240_000

/** The dataset that the second workflow waits for, and its step. */
const AWAITED = 'closings'
const WAIT = 'closed'
const PAUSE_SECONDS = 6
const WAIT_SECONDS = 40
/** The longest time in which the commit of a step can end. */
const SPARED_MS = 4_000

const EVENT = { event: '{{ payload.event }}' }

/** Each order starts both workflows. The second one waits for an event of the first, which a killed process may send too late. */
const WORKFLOWS = (destination: string) => [
  {
    name: 'Follow',
    entry_dataset: ORDERS,
    steps: [
      { id: 'note', type: 'emit_event', dataset: 'notes', data: EVENT },
      { id: 'pause', type: 'delay', seconds: PAUSE_SECONDS },
      { id: 'send', type: 'deliver', destination },
      { id: 'close', type: 'emit_event', dataset: 'closings', data: EVENT },
    ],
  },
  {
    name: 'Pair',
    entry_dataset: ORDERS,
    steps: [
      {
        id: WAIT,
        type: 'wait_for_event',
        dataset: AWAITED,
        conditions: [{ path: 'event', equals: '{{ payload.event }}' }],
        timeout_seconds: WAIT_SECONDS,
      },
      { id: 'pair', type: 'emit_event', dataset: 'pairs', data: EVENT },
    ],
  },
]

/** Processes with workflows die at random times, and each step of each instance has its effect exactly once. */
export const workflow = defineScenario({
  name: 'workflow',
  about: 'SIGKILL of servers that run workflows: each instance starts with its record, ends, and has each effect once',
  processes: PROCESSES,
  rounds: 20,
  ratePerSecond: 60,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const { seed, signal, isShort } = request
  const base = { maxInFlight: 20, scheme: 'standard', conduct: () => ({ status: 200 }) } as const
  const { evidence, stopped } = await sendThrough(stage, request, {
    receivers: [
      { ...base, name: 'rule', datasets: [ORDERS] },
      { ...base, name: STEP, datasets: [NOTHING] },
    ],
    percent: { [ORDERS]: 100 },
    drainMs: DRAIN_MS,
    prepare: async (destinations) => {
      const { id = '' } = destinations.find(({ name }) => name === STEP) ?? {}
      await Promise.all(WORKFLOWS(id).map((made) => stage.admin('POST', 'workflows', made)))
      await sleep(KNOWN_MS, undefined, { signal })
    },
    storm: ({ sink, blows, load }) => {
      const nemesis = createNemesis({
        stage,
        rng: new Rng(seed + 2),
        blows,
        answers: load.answers,
        receipts: sink.receipts,
        signal,
      })
      return storm(request, { nemesis, delivers: true })
    },
    heal: async ({ destinations }) => {
      await closeBreakers(stage, destinations)
      if (isShort) await asked(stage, (database, at) => expireClaims(database, at))
    },
  })
  const instances = await asked(stage, (database, at) => workflowInstances(database, at))
  const missed = await asked(stage, (database, at) =>
    missedWakes(database, { ...at, stepId: WAIT, dataset: AWAITED, sparedMs: SPARED_MS }),
  )
  return judge(evidence, { instances, missed: missed.map(({ event }) => event), stopped })
}

type Ended = {
  readonly instances: readonly InstanceRow[]
  readonly missed: readonly string[]
  readonly stopped: string | null
}

function judge(evidence: Evidence, { instances, missed, stopped }: Ended): Outcome {
  const facts = factsOf(sentOnly(evidence))
  const findings = [
    ...[...ROAD_CHECKS, duplicatesBounded].map((check) => check(facts)),
    ...judgeStarts(facts.datasetOf, instances),
    promise('timed out beside the event they waited for', missed),
    ...EMITTED.flatMap((dataset) => judgeEmitted(evidence, dataset)),
  ]
  const figures = [
    ...loadFigures(evidence),
    counted('workflow instances; completed', `${instances.length}; ${completed(instances).length}`),
  ]
  return { findings, figures, stopped }
}

/** The evidence about the events of the senders. A step delivers each of them to the other destination. */
function sentOnly(evidence: Evidence): Evidence {
  return {
    ...evidence,
    stored: evidence.stored.filter(({ dataset }) => dataset === ORDERS || dataset === null),
    destinations: evidence.destinations.map((one): DestinationFact => ({ ...one, datasets: [ORDERS] })),
  }
}

const completed = (instances: readonly InstanceRow[]): readonly InstanceRow[] =>
  instances.filter(({ state }) => state === 'completed')

const distinct = (rows: readonly InstanceRow[]): number => new Set(rows.map(({ workflow_id }) => workflow_id)).size

function judgeStarts(records: ReadonlyMap<string, string>, instances: readonly InstanceRow[]): readonly Finding[] {
  const started = Map.groupBy(instances, ({ record_id }) => encodeId('record', record_id))
  const expected = WORKFLOWS('').length
  return [
    promise(
      'stored, not started',
      [...records.keys()].filter((record) => distinct(started.get(record) ?? []) < expected),
    ),
    promise(
      'started twice',
      [...started].flatMap(([record, rows]) => (rows.length > distinct(rows) ? [record] : [])),
    ),
    promise(
      'instances left unfinished',
      instances.filter(({ state }) => state !== 'completed').map((row) => JSON.stringify(row)),
    ),
  ]
}

function judgeEmitted({ stored }: Evidence, emitted: string): readonly Finding[] {
  const eventsIn = (wanted: string): readonly string[] =>
    stored.flatMap(({ dataset, event }) => (dataset === wanted && event !== null ? [event] : []))
  const found = Map.groupBy(eventsIn(emitted), (event) => event)
  return [
    promise(
      `never emitted into ${emitted}`,
      eventsIn(ORDERS).filter((event) => !found.has(event)),
    ),
    promise(
      `emitted twice into ${emitted}`,
      [...found].flatMap(([event, all]) => (all.length > 1 ? [event] : [])),
    ),
  ]
}
