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
  /** How many rows break it. */
  readonly count: (db: Db, now: Date, plans: Plans) => Promise<number>
}

/** What must hold at every moment, whatever died: the doctor asks them, and so does every round of chaos. */
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
    check: 'every destination has its lane',
    meaning: 'Nothing is ever sent to these destinations.',
    count: countOrphanLanes,
  },
  {
    check: 'what is sending has exactly one open attempt',
    meaning: 'These deliveries would wait for an answer that cannot come.',
    count: countSendingWithoutAttempt,
  },
  {
    check: 'what is sending has a living sender',
    meaning: 'They are recovered within seconds while a server runs.',
    count: countSendingWithoutSender,
  },
  {
    check: 'an open attempt belongs to a delivery that is sending',
    meaning: 'These attempts never ended.',
    count: countOpenAttemptsNotSending,
  },
  {
    check: 'attempts are counted right',
    meaning: 'The number of attempts differs from their rows.',
    count: countWrongAttemptCounts,
  },
  {
    check: 'nothing is due for a destination that is off',
    meaning: 'These should be paused; they are paused within seconds.',
    count: countDueOfPausedDestinations,
  },
  {
    check: 'nothing waits for an allowance that has room',
    meaning: 'They are sent within seconds while a server with the role work runs; of many, some thousands a second.',
    count: countWaitingWithRoom,
  },
]
