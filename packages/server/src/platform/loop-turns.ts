import { setImmediate as nextTurn } from 'node:timers/promises'

let last: Promise<void> = Promise.resolve()

/**
 * Waits for a turn of the event loop that no other caller gets. Pieces of work that are each short enough then never add up to
 * one long block, whichever caller they belong to.
 */
export function turnOfTheLoop(): Promise<void> {
  last = last.then(() => nextTurn())
  return last
}
