/**
 * Points where a crash of the process loses the most: the machine has just learned something, and none of it has left the
 * machine yet. The simulator kills workers at each of them, and a test asserts that it has.
 */
export const WORKFLOW_CRASH_POINTS = [
  /** Instances were claimed, and none of them has run. */
  'claimed',
  /** Instances ran to their stops, and only this process knows that. */
  'advanced',
  /** Steps are committed with their effects, and the process does not know that yet. */
  'settled',
  /** An instance has stored one event and is about to store the next. */
  'between_events',
  /** Waits found their records, and the woken instances have not been claimed. */
  'matched',
  /** Some instances of a suspended or reinstated workspace were moved, and others not. */
  'moved',
  /** The process was asked to stop. */
  'stopping',
] as const
export type WorkflowCrashPoint = (typeof WORKFLOW_CRASH_POINTS)[number]
