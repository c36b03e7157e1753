/** The reason why this side ended a connection. The message is a sentence for the owner of the peer. */
export class Breach extends Error {
  readonly code: 'response_too_large' | 'connection_reset'

  constructor(code: Breach['code'], message: string) {
    super(message)
    this.name = 'Breach'
    this.code = code
  }
}
