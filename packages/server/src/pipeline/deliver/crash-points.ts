/**
 * Points where a crash of the process loses the most: the machine has just decided or learned something, and none of it has
 * left the machine yet. The simulator kills workers at each of them, and a test asserts that it has.
 */
export const CRASH_POINTS = [
  /** Lanes were granted, and the machine has not read them yet. */
  'granted',
  /** Due deliveries were read. */
  'read',
  /** Slots are taken for new deliveries, and the commit that stores them and starts their attempts is not sent. */
  'arriving',
  /** Attempts are committed, and their requests have not started. */
  'begun',
  /** A request ended, and only this process knows its result. */
  'responded',
  /** Results are committed, and their consequences are not applied. */
  'settled',
  /** A breaker changed its state, and the change is not persisted. */
  'breaker_moved',
  /** A probe is about to start. */
  'probing',
  /** The memory for the next owner is committed. */
  'persisted',
  /** Lanes were given back. */
  'released',
  /** Lanes are about to be handed to other owners. */
  'handing_over',
  /** A destination was turned off while it had work under way. */
  'disabled',
  /** The process was asked to stop. */
  'stopping',
] as const
export type CrashPoint = (typeof CRASH_POINTS)[number]
