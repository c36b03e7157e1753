/** The rules for the distribution of lanes while every lane has work and every process lives. */
import { fairShare } from '../src/domain/delivery/fair-share.ts'
import { Violation } from './violation.ts'

/** An owner with more than its share has this long to hand lanes over. */
const SETTLED_MS = 30_000
const SLACK = 1
/** A lane is handed to another owner, and perhaps from there to a third. After that it stays. */
const OFFERS_MAX = 3

export class ShareRules {
  readonly #overSince = new Map<string, number>()
  readonly #offers = new Map<string, number>()
  #watching = false

  watch(watching: boolean): void {
    this.#watching = watching
    this.#overSince.clear()
    this.#offers.clear()
  }

  /** The owner of the lane has given it back for another owner. */
  offered(lane: string): void {
    if (!this.#watching) return
    const offers = (this.#offers.get(lane) ?? 0) + 1
    this.#offers.set(lane, offers)
    if (offers > OFFERS_MAX) throw new Violation(`${lane} was handed over ${offers} times, but nobody died`)
  }

  /** How many lanes each living owner has at present. */
  look(holdings: ReadonlyMap<string, number>, now: number): void {
    const lanes = [...holdings.values()].reduce((sum, held) => sum + held, 0)
    const share = fairShare(lanes, { owners: holdings.size - 1, lanes: 0 })
    for (const [owner, held] of holdings) {
      if (held <= share + SLACK) {
        this.#overSince.delete(owner)
        continue
      }
      const since = this.#overSince.get(owner) ?? now
      this.#overSince.set(owner, since)
      if (now - since > SETTLED_MS)
        throw new Violation(
          `${owner} has held ${held} of ${lanes} lanes for ${now - since} ms beside ${holdings.size - 1} others`,
        )
    }
  }
}
