/** Counts work, in characters, that is done next. It returns a promise when others should have their turn first. */
export type Spend = (work: number) => Promise<void> | undefined

/** Work in steps. It yields what must be awaited before the next step, so short work never leaves the current turn. */
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
