/** A failure of a foreign system, or of the settings for it. The sentence contains no credential. */
export class ForeignFailure extends Error {
  readonly reason: string
  /** The pause that the other system asks for. */
  readonly waitMs: number

  constructor(...[reason, message, waitMs = 0]: readonly [string, string, (number | undefined)?]) {
    super(message)
    this.name = 'ForeignFailure'
    this.reason = reason
    this.waitMs = waitMs
  }
}
