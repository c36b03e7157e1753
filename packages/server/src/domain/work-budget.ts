/**
 * How much one piece of work may do. It is counted in characters that are read or written, never in time: the same
 * input stops at the same place on every machine.
 */
export class WorkBudget {
  #left: number

  constructor(workMax: number) {
    this.#left = workMax
  }

  get usedUp(): boolean {
    return this.#left < 0
  }

  /** Counts what is about to be done, or was done; throws when it is more than is left. */
  spend(work: number): void {
    this.#left -= work
    if (this.#left < 0) throw new WorkUsedUp()
  }
}

export class WorkUsedUp extends Error {
  constructor() {
    super('This takes more work than it may')
    this.name = 'WorkUsedUp'
  }
}
