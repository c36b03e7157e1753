import assert from 'node:assert/strict'

/** No turn of the loop may take longer, in milliseconds of processor time. */
const TURN_MS_MAX = 50
const TRIES = 3

/**
 * Asserts that no turn of this loop takes too long during the work. It fails only if every try takes too long, because a busy
 * machine, a garbage collection or a compilation lengthens a single one.
 */
export async function assertShortTurns(work: () => Promise<unknown>): Promise<void> {
  const longest: number[] = []
  while (longest.length < TRIES) {
    // oxlint-disable-next-line no-await-in-loop -- try after try
    const turn = await longestTurn(work)
    if (turn <= TURN_MS_MAX) return
    longest.push(turn)
  }
  assert.fail(`${longest.join(', ')} ms of the loop in one turn`)
}

/** The longest processor time of one turn of this loop during the work. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver] = [0, false]
  let before = process.threadCpuUsage()
  const turn = (): void => {
    const now = process.threadCpuUsage()
    longest = Math.max(longest, (now.user + now.system - before.user - before.system) / 1_000)
    before = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    await work()
  } finally {
    isOver = true
  }
  return longest
}
