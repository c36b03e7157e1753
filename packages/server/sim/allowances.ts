/** The allowance of each workspace as the rows have it, and the rules that must always be true for it. */
import { Violation } from './violation.ts'
import type { Actor, Delivery } from './rows.ts'

interface Month {
  /** null: the plan allows any number. */
  max: number | null
  used: number
}

/** The row of the month. The transaction that releases deliveries reads and writes it. */
export class Allowances {
  readonly #months = new Map<string, Month>()

  of(workspace: string): Month {
    const known = this.#months.get(workspace)
    if (known !== undefined) return known
    const month = { max: null, used: 0 }
    this.#months.set(workspace, month)
    return month
  }

  /** Counts one delivery if there is room for it. */
  take(workspace: string): boolean {
    const month = this.of(workspace)
    if (month.max === null) return true
    if (month.used >= month.max) return false
    month.used += 1
    return true
  }

  /** Returns the waiting deliveries that there is room for, and counts them. */
  released(workspace: string, waiting: readonly Delivery[], plant: string | undefined): readonly Delivery[] {
    // oxlint-disable-line max-params -- the workspace, its deliveries, and the planted fault
    const { max, used } = this.of(workspace)
    if (plant === 'uncounted-release') return waiting.slice(0, max === null ? waiting.length : Math.max(0, max - used))
    return (plant === 'newest-released' ? waiting.toReversed() : waiting).filter(() => this.take(workspace))
  }

  hasRoom(workspace: string): boolean {
    const { max, used } = this.of(workspace)
    return max === null || used < max
  }
}

const LETS_GO: ReadonlySet<Actor['act']> = new Set(['ingest', 'replay', 'release'])

/**
 * Separate records of the number of deliveries released since the month started, and of the waiting ones in their
 * order of arrival.
 */
export class AllowanceRules {
  readonly #months = new Map<string, Month>()
  readonly #waiting = new Map<string, Set<string>>()

  /** The plan changed; or, with `turned`, a new month started. */
  set(workspace: string, max: number | null, turned: boolean): void {
    // oxlint-disable-line max-params -- the workspace, its limit, and which of the two changed
    this.#months.set(workspace, { max, used: turned ? 0 : (this.#months.get(workspace)?.used ?? 0) })
  }

  moved(row: Delivery, workspace: string, by: Actor): void {
    // oxlint-disable-line max-params -- the row, its workspace, and the actor
    const waiting = this.waiting(workspace)
    const { delivery_id } = row
    if (row.pause_reason === 'allowance_used') {
      if (by.act !== 'ingest') throw new Violation(`${delivery_id} was made to wait for the allowance by ${by.act}`)
      if (this.#hasRoom(workspace)) throw new Violation(`${delivery_id} waits for an allowance that has room`)
      waiting.add(delivery_id)
      return
    }
    if (waiting.has(delivery_id)) {
      if (by.act !== 'release' && by.act !== 'cancel')
        throw new Violation(`${delivery_id} waits for the allowance and was moved by ${by.act}`)
      const [first] = waiting
      if (by.act === 'release' && first !== delivery_id)
        throw new Violation(`${delivery_id} was released before ${first}, which has waited longer`)
      waiting.delete(delivery_id)
    }
    if (LETS_GO.has(by.act)) this.#letGo(delivery_id, workspace)
  }

  waiting(workspace: string): Set<string> {
    const known = this.#waiting.get(workspace) ?? new Set()
    this.#waiting.set(workspace, known)
    return known
  }

  /** A loop has released all that it could. */
  released(workspace: string, { used }: Month): void {
    if (this.waiting(workspace).size > 0 && this.#hasRoom(workspace))
      throw new Violation(`${workspace} has room, but deliveries wait for it`)
    const known = this.#months.get(workspace)
    if (known !== undefined && known.max !== null && known.used !== used)
      throw new Violation(`${workspace} counts ${used} deliveries, and ${known.used} were released`)
  }

  #hasRoom(workspace: string): boolean {
    const month = this.#months.get(workspace)
    return month === undefined || month.max === null || month.used < month.max
  }

  #letGo(delivery_id: string, workspace: string): void {
    const month = this.#months.get(workspace)
    if (month === undefined || month.max === null) return
    month.used += 1
    if (month.used > month.max)
      throw new Violation(
        `${delivery_id} was released as number ${month.used} of ${month.max} that ${workspace} may send`,
      )
  }
}
