/** Counts the next piece of work, in characters. Returns a promise when other work must run first. */
export type Spend = (work: number) => Promise<void> | undefined

/**
 * Work in steps. It yields promises to await before the next step, so short work never leaves the current turn of the event
 * loop.
 */
export type InTurns<Result> = Generator<Promise<void>, Result, void>

/** Runs all steps and returns the result. */
export async function finish<Result>(work: InTurns<Result>): Promise<Result> {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    // oxlint-disable-next-line no-await-in-loop -- the next step comes after the wait
    await step.value
  }
}
