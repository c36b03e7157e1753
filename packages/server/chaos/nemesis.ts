import { setTimeout as sleep } from 'node:timers/promises'
import type { Rng } from '../sim/rng.ts'
import { systemClock } from '../src/platform/clock.ts'
import type { Ledger } from './ledger.ts'
import type { Answer } from './load.ts'
import type { Receipt } from './sink.ts'
import type { Stage } from './stage.ts'

export type Target = 'server' | 'postmaster' | 'backend' | 'session'

/** One round: wait for a sign of life, strike, and strike again during the restart. */
export type Round = {
  /** The sign of life before the strike: an acknowledgment, or a delivery at a receiver. */
  readonly after: 'answer' | 'delivery'
  readonly offsetMs: number
  /** `session`: one connection to PostgreSQL is ended. `backend`: one backend is killed, and PostgreSQL recovers from that. */
  readonly target: Target
  /** After a strike at PostgreSQL, the server also dies this many ms later; null: it must recover from the strike. */
  readonly thenServerMs: number | null
  /** The server is killed again this many ms after each new start. */
  readonly whileStartingMs: readonly number[]
}

export type PlanOptions = { readonly rounds: number; readonly postgres: 'third' | 'always' | 'never' }

const OFFSET_MS_MAX = 500
const CALM_MS_MAX = 3_000
const STARTING_MS_MAX = 900

/**
 * The rounds of a seed. Every second round waits until deliveries flow again, so that the kill interrupts some of them.
 * A third gives the server time to start working.
 */
export function planRounds(rng: Rng, { rounds, postgres }: PlanOptions): readonly Round[] {
  return Array.from({ length: rounds }, (_, index) => {
    const strikesPostgres = postgres === 'always' || (postgres === 'third' && index % 3 === 2)
    return {
      after: index % 2 === 1 ? 'delivery' : 'answer',
      offsetMs: rng.int(0, rng.chance(0.33) ? CALM_MS_MAX : OFFSET_MS_MAX),
      target: strikesPostgres ? rng.pick(['postmaster', 'backend', 'session'] as const) : 'server',
      thenServerMs: strikesPostgres && rng.chance(0.5) ? rng.int(0, OFFSET_MS_MAX) : null,
      whileStartingMs: rng.chance(0.3) ? Array.from({ length: rng.int(1, 3) }, () => rng.int(0, STARTING_MS_MAX)) : [],
    }
  })
}

/** A blow that was struck. */
export type Blow = { readonly target: Target | 'worker' | 'restart'; readonly at: number }

export type Nemesis = {
  readonly blows: Ledger<Blow>
  /** Plays one round. Rejects when the sign of life does not come in time. */
  strike(round: Round): Promise<void>
}

export type NemesisOptions = {
  readonly stage: Stage
  readonly rng: Rng
  readonly blows: Ledger<Blow>
  readonly answers: Ledger<Answer>
  readonly receipts: Ledger<Receipt>
  readonly signal: AbortSignal
}

const PATIENCE_MS = { answer: 90_000, delivery: 120_000 } as const

export function createNemesis({ stage, rng, blows, answers, receipts, signal }: NemesisOptions): Nemesis {
  const clock = systemClock()
  const killServer = async (): Promise<void> => {
    blows.note({ target: 'server', at: clock.now() })
    await stage.server.kill()
    stage.server.start()
  }
  const hit = async (target: Target): Promise<void> => {
    if (target === 'server') return killServer()
    const at = clock.now()
    const struck =
      target === 'postmaster'
        ? stage.postgres.killPostmaster()
        : stage.postgres.signalBackend(target === 'backend' ? 'SIGKILL' : 'SIGTERM', rng)
    if (struck) blows.note({ target, at })
  }
  const signOfLife = (after: Round['after']): Promise<object | undefined> => {
    const since = clock.now()
    const within = { patienceMs: PATIENCE_MS[after], signal }
    return after === 'answer'
      ? answers.next((answer) => answer.status === 201 && answer.sentAt >= since, within)
      : receipts.next((receipt) => receipt.at >= since, within)
  }
  return {
    blows,
    strike: async (round) => {
      if ((await signOfLife(round.after)) === undefined) {
        throw new Error(`There was no ${round.after} for ${PATIENCE_MS[round.after] / 1_000} s after the last blow`)
      }
      await sleep(round.offsetMs, undefined, { signal })
      await hit(round.target)
      if (round.thenServerMs !== null) {
        await sleep(round.thenServerMs, undefined, { signal })
        await hit('server')
      }
      for (const afterMs of round.whileStartingMs) {
        // oxlint-disable-next-line no-await-in-loop -- one blow after the other is the point
        await sleep(afterMs, undefined, { signal })
        // oxlint-disable-next-line no-await-in-loop -- as above
        await hit('server')
      }
    },
  }
}
