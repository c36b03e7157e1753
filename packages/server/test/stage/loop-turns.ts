/** No turn of the loop may take longer, in milliseconds of processor time. */
export const TURN_MS_MAX = 50

/** The longest processor time of one turn of this loop during the work. Other programs of the machine hardly lengthen it. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
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
