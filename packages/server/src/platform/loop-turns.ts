import { setImmediate as nextTurn } from 'node:timers/promises'

let last: Promise<void> = Promise.resolve()

/**
 * A turn of the event loop that no other caller of this has, so that pieces of work which are each short enough never make
 * one long piece together, whoever does them.
 */
export function turnOfTheLoop(): Promise<void> {
  last = last.then(() => nextTurn())
  return last
}
