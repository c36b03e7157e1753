/** A failure of a system of somebody else, or of the settings for it. The sentence contains no credential. */
export class ForeignFailure extends Error {
  readonly reason: string
  /** How long the other system wants to be left alone. */
  readonly waitMs: number

  constructor(...[reason, message, waitMs = 0]: readonly [string, string, (number | undefined)?]) {
    super(message)
    this.name = 'ForeignFailure'
    this.reason = reason
    this.waitMs = waitMs
  }
}
