import type { Plans } from '../../../domain/workspace/plan.ts'
import type { Db } from '../../../platform/db.ts'
import { countWaitingWithRoom } from './allowance.ts'
import {
  countDeliveriesWithoutRecord,
  countDueOfPausedDestinations,
  countOpenAttemptsNotSending,
  countOrphanLanes,
  countRecordsWithoutSubmission,
  countSendingWithoutAttempt,
  countSendingWithoutSender,
  countWrongAttemptCounts,
} from './queries.ts'

export type Invariant = {
  readonly check: string
  readonly meaning: string
  /** The number of rows that break the invariant. */
  readonly count: (db: Db, now: Date, plans: Plans) => Promise<number>
}

/** The invariants that are always true, whichever process died. The doctor and every round of chaos check them. */
export const INVARIANTS: readonly Invariant[] = [
  {
    check: 'every delivery has its record',
    meaning: 'These deliveries have nothing to send.',
    count: countDeliveriesWithoutRecord,
  },
  {
    check: 'every record has its submission',
    meaning: 'The payload of these records is gone.',
    count: countRecordsWithoutSubmission,
  },
  {
    check: 'every destination has its delivery queue',
    meaning: 'Nothing is ever sent to these destinations.',
    count: countOrphanLanes,
  },
  {
    check: 'every delivery that is sending has exactly one open attempt',
    meaning: 'These deliveries would wait for a response that cannot arrive.',
    count: countSendingWithoutAttempt,
  },
  {
    check: 'every delivery that is sending has a living sender',
    meaning: 'A running server recovers them within seconds.',
    count: countSendingWithoutSender,
  },
  {
    check: 'every open attempt belongs to a delivery that is sending',
    meaning: 'These attempts never ended.',
    count: countOpenAttemptsNotSending,
  },
  {
    check: 'attempts are counted correctly',
    meaning: 'The number of attempts differs from their rows.',
    count: countWrongAttemptCounts,
  },
  {
    check: 'no delivery is due for a destination that is off',
    meaning: 'A running server pauses these deliveries within seconds.',
    count: countDueOfPausedDestinations,
  },
  {
    check: 'no delivery waits for an allowance that has room',
    meaning: 'A running server with the role work releases them within seconds, thousands per second.',
    count: countWaitingWithRoom,
  },
]
