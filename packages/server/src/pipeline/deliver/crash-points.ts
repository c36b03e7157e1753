/**
 * Places where a process may die with the most to lose: something was just decided or learnt, and nothing of it has left the
 * machine yet. The simulator kills workers at each of them, and a test asserts that it has.
 */
export const CRASH_POINTS = [
  /** Lanes were granted, and nothing is known of them. */
  'granted',
  /** Due deliveries were read. */
  'read',
  /** Attempts are committed, and their requests have not been made. */
  'begun',
  /** A request ended, and its result is nowhere else. */
  'responded',
  /** Results are committed, and what follows from them is not done. */
  'settled',
  /** A breaker moved, and that is not noted. */
  'breaker_moved',
  /** A probe is about to be begun. */
  'probing',
  /** What a next owner must know is committed. */
  'noted',
  /** Lanes were given back. */
  'released',
  /** Lanes are about to be handed to other owners. */
  'handing_over',
  /** A destination was switched off under way. */
  'halted',
  /** The process was asked to stop. */
  'stopping',
] as const
export type CrashPoint = (typeof CRASH_POINTS)[number]
