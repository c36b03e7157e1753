import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { stopwatch } from './clock.ts'

/** Work that is between two of its steps continues within fewer turns of the event loop. */
const TURNS = 5
const PATIENCE_MS = 60_000

/**
 * Resolves once `underWay` has named nothing for some turns of the event loop, to whether it named something before. Rejects
 * with the names when they have not ended within a minute.
 */
export async function untilQuiet(underWay: () => readonly string[]): Promise<boolean> {
  const elapsed = stopwatch()
  let waited = false
  for (let turns = 0; turns < TURNS;) {
    const names = underWay()
    turns = names.length === 0 ? turns + 1 : 0
    waited ||= names.length > 0
    if (elapsed() > PATIENCE_MS)
      throw new Error(`After ${PATIENCE_MS / 1_000} s this is still under way: ${names.join(', ')}.`)
    // oxlint-disable-next-line no-await-in-loop -- turn after turn
    await (names.length === 0 ? nextTurn() : sleep(1))
  }
  return waited
}
