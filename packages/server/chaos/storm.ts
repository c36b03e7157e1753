import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../sim/rng.ts'
import { planRounds, type Nemesis } from './nemesis.ts'
import type { Request } from './scenario.ts'

/** The load ends with the storm, even if an interruption ends it. */
export async function weather<T>(load: { stop(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await load.stop()
  }
}

export type Storm = {
  readonly nemesis: Nemesis
  /** Blows may also follow a sign of delivery. Without receivers there is none. */
  readonly delivers?: boolean
  /** Runs beside each blow. */
  readonly meanwhile?: (round: number) => Promise<void>
  /** The maximum delay of a blow after its sign. */
  readonly offsetMsMax?: number
}

/** Plays the rounds, then lets the load run for a moment without blows. Returns the reason why it ended early, or null. */
export async function storm(
  { seed, rounds, postgres, signal, say }: Request,
  { nemesis, delivers = false, meanwhile, offsetMsMax = Infinity }: Storm,
): Promise<string | null> {
  try {
    for (const [index, round] of planRounds(new Rng(seed), { rounds, postgres }).entries()) {
      const offsetMs = Math.min(round.offsetMs, offsetMsMax)
      const after = delivers ? round.after : 'answer'
      say(
        `round ${index + 1} of ${rounds}: ${round.target} ${offsetMs} ms after a sign of ${after === 'answer' ? 'ingest' : 'delivery'}`,
      )
      // oxlint-disable-next-line no-await-in-loop -- rounds come one after the other
      await Promise.all([nemesis.strike({ ...round, after, offsetMs }), meanwhile?.(index)])
    }
    await sleep(1_000, undefined, { signal })
    return null
  } catch (error) {
    signal.throwIfAborted()
    return error instanceof Error ? error.message : String(error)
  }
}
