/** The steps of the start of this process. They overlap, so each has its own beginning. */
const STEPS = new Map<string, { readonly from_ms: number; readonly ms: number }>()

/** Does one step of the start, and stores when it began, in milliseconds since the process began, and how long it took. */
export async function startStep<T>(step: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now()
  const done = await work()
  STEPS.set(step, { from_ms: Math.round(from), ms: Math.round(performance.now() - from) })
  return done
}

/** The steps so far, for the log. */
export const startSteps = (): object => Object.fromEntries(STEPS)
