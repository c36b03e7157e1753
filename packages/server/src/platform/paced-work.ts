import { turnOfTheLoop } from './loop-turns.ts'

/** About 10 ms. */
const STRETCH_WORK = 4_194_304

/** Work of one request, counted as in ADR 62: bounded, and done in stretches between which others have their turn. */
export class PacedWork {
  #left: number
  #stretchLeft = STRETCH_WORK

  constructor(workMax: number) {
    this.#left = workMax
  }

  /** What is under way is finished; nothing more is begun. */
  get usedUp(): boolean {
    return this.#left <= 0
  }

  /** Counts what is done next; what it gives is waited for before. */
  readonly spend = (work: number): Promise<void> | undefined => {
    this.#left -= work
    this.#stretchLeft -= work
    if (this.#stretchLeft > 0) return undefined
    this.#stretchLeft = STRETCH_WORK - work
    return turnOfTheLoop()
  }
}
