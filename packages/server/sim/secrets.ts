import { rotated, type SigningSecrets } from '../src/domain/delivery/signing-secrets.ts'

/** Called for each secret that a lane gets. `until`: how long the previous one also signs; null: no longer. */
type Watch = (lane: string, to: { readonly secret: string; readonly until: number | null }, now: number) => void

/** The signing secrets of the lanes, as the rows of their destinations have them. */
export class Secrets {
  readonly #held = new Map<string, SigningSecrets>()
  readonly #watch: Watch
  #minted = 0

  constructor(watch: Watch) {
    this.#watch = watch
  }

  of(lane: string): SigningSecrets {
    const held = this.#held.get(lane)
    if (held === undefined) throw new Error(`${lane} has no secret`)
    return held
  }

  add(lane: string): void {
    const secret = this.#mint(lane)
    this.#held.set(lane, { current: secret, previous: null })
    this.#watch(lane, { secret, until: null }, 0)
  }

  /** One transaction. `overlapMs` 0: the previous secret expires immediately. */
  rotate(lane: string, overlapMs: number, now: number): void {
    // oxlint-disable-line max-params -- the lane, the overlap, and the time
    const [secret, until] = [this.#mint(lane), overlapMs === 0 ? null : now + overlapMs]
    this.#held.set(lane, rotated(this.of(lane), { secret, until }))
    this.#watch(lane, { secret, until }, now)
  }

  /** A secret in the form of the product's secrets, with a distinct number. */
  #mint(lane: string): string {
    this.#minted += 1
    return `whsec_${Buffer.from(`${lane}/${this.#minted}`).toString('base64')}`
  }
}
