import { turnOfTheLoop } from './loop-turns.ts'

/** About 10 ms. */
const STRETCH_WORK = 4_194_304

/**
 * The work of one request, counted as in ADR 62. It is limited and runs in stretches, and other requests run between
 * them.
 */
export class PacedWork {
  #left: number
  #stretchLeft = STRETCH_WORK

  constructor(workMax: number) {
    this.#left = workMax
  }

  /** True when nothing more is started. Work under way is finished. */
  get usedUp(): boolean {
    return this.#left <= 0
  }

  /** Counts the next piece of work. The caller awaits the result before it starts that piece. */
  readonly spend = (work: number): Promise<void> | undefined => {
    this.#left -= work
    this.#stretchLeft -= work
    if (this.#stretchLeft > 0) return undefined
    this.#stretchLeft = STRETCH_WORK - work
    return turnOfTheLoop()
  }
}
