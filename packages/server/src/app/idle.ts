import type { Deps } from '../context.ts'
import type { RunningLoop } from '../platform/lease-loop.ts'
import { untilQuiet } from '../platform/quiet.ts'
import type { LoopName } from '../workers/loops.ts'

/** A loop that still reports work after this many turns repeats something that fails. */
const TURNS_MAX = 100

type Parts = {
  readonly deps: Pick<Deps, 'database' | 'wakeups'>
  /** The loops that this process has started. */
  readonly started: readonly RunningLoop[]
  /** Every loop of this process. */
  readonly loops: readonly RunningLoop[]
  readonly unanswered: () => number
  readonly attempts: () => number
  readonly isEngineAtRest: () => boolean
}

/** Runs a loop of this process until it finds nothing due. */
export async function runToRest(loops: readonly RunningLoop[], name: LoopName): Promise<void> {
  const loop = loops.find((one) => one.name === name)
  if (loop === undefined) throw new Error(`This process does not run the loop ${name}.`)
  for (let turns = 0; turns < TURNS_MAX; turns += 1) {
    // oxlint-disable-next-line no-await-in-loop -- turn after turn
    if ((await loop.turn()) === 0) return
  }
  throw new Error(`${loop.name} still finds work after ${TURNS_MAX} turns.`)
}

export type Rest = {
  /**
   * Resolves when nothing is under way: no request waits for its response, no statement, no attempt and no loop runs, and every
   * message of other processes was heard. To whether something was.
   */
  whenQuiet(): Promise<boolean>
  /** Resolves when it is quiet, and every started loop has looked and found nothing due at the time of the clock. */
  whenIdle(): Promise<void>
}

export function createRest(parts: Parts): Rest {
  const { deps, started } = parts
  const quiet = (): Promise<boolean> => untilQuiet(() => underWay(parts))
  const whenQuiet = async (): Promise<boolean> => {
    const waited = await quiet()
    await deps.wakeups.caughtUp()
    return (await quiet()) || waited
  }
  /** Returns whether something was due or under way. */
  const lookAgain = async (): Promise<boolean> => {
    let happened = await whenQuiet()
    // In the order of the list: loops that make work come before loops that count it. A run that fails has logged why, and what
    // it left undone is due at its next run.
    // oxlint-disable-next-line no-await-in-loop -- as above
    for (const loop of started) if ((await loop.turn().catch(() => 0)) > 0) happened = true
    return (await quiet()) || happened
  }
  return {
    whenQuiet,
    whenIdle: async () => {
      await whenQuiet()
      for (let rounds = 0; rounds < TURNS_MAX; rounds += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one round after another
        if (!(await lookAgain())) return
      }
      throw new Error(`After ${TURNS_MAX} rounds, the background loops still find work.`)
    },
  }
}

function underWay({ deps, loops, unanswered, attempts, isEngineAtRest }: Parts): readonly string[] {
  return [
    ...counted(unanswered(), 'requests to this server'),
    ...counted(deps.database.underWay(), 'statements'),
    ...counted(attempts(), 'attempts of deliveries'),
    ...(isEngineAtRest() ? [] : ['instances of workflows']),
    ...loops.filter((loop) => loop.isUnderWay()).map(({ name }) => `the loop ${name}`),
  ]
}

function counted(count: number, of: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${of}`]
}
