const EVENTS_MAX = 10_000

/** The recipients who do not have an event yet although others have it, by lane, settings and event. The oldest are forgotten. */
export class Remaining {
  readonly #recipients = new Map<string, readonly string[]>()

  get(event: string): readonly string[] | undefined {
    return this.#recipients.get(event)
  }

  set(event: string, recipients: readonly string[]): void {
    this.#recipients.delete(event)
    if (recipients.length === 0) return
    this.#recipients.set(event, recipients)
    const [oldest] = this.#recipients.keys()
    if (this.#recipients.size > EVENTS_MAX && oldest !== undefined) this.#recipients.delete(oldest)
  }
}
