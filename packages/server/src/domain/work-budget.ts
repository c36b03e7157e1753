/** Counts work in characters that are read or written. */
export type Counting = { spend(work: number): void }

/** Counts nothing, because the work has another limit. */
export const UNLIMITED: Counting = { spend: () => undefined }

/** The work of one request. When it is used up, nothing more is started, and work under way is finished. */
export class WorkCounter implements Counting {
  #left: number

  constructor(workMax: number) {
    this.#left = workMax
  }

  get left(): number {
    return this.#left
  }

  get usedUp(): boolean {
    return this.#left <= 0
  }

  spend(work: number): void {
    this.#left -= work
  }
}

/**
 * How much one piece of work may do. It is counted in characters that are read or written, never in time, so the same input
 * stops at the same place on every machine.
 */
export class WorkBudget implements Counting {
  #left: number

  constructor(workMax: number) {
    this.#left = workMax
  }

  get left(): number {
    return this.#left
  }

  get usedUp(): boolean {
    return this.#left < 0
  }

  /** Counts work before or after it is done. Throws when it exceeds the budget. */
  spend(work: number): void {
    this.#left -= work
    if (this.#left < 0) throw new WorkUsedUp()
  }
}

export class WorkUsedUp extends Error {
  constructor() {
    super('The work budget is used up')
    this.name = 'WorkUsedUp'
  }
}
