import { reasonOf } from '../outbound/failure.ts'
import type { OutboundFailureCode } from '../outbound/request.ts'

export type LinkFailureCode = OutboundFailureCode | 'auth_failed' | 'refused' | 'event_too_large'

const SAID_CHARS_MAX = 300

/**
 * The reason why another system does not have an event. The message is a sentence for the owner of the destination,
 * without an address.
 */
export class LinkFailure extends Error {
  readonly code: LinkFailureCode

  constructor(code: LinkFailureCode, message: string) {
    super(message)
    this.name = 'LinkFailure'
    this.code = code
  }

  /** True when no later attempt of the same event could succeed. */
  get isPermanent(): boolean {
    return this.code === 'event_too_large'
  }
}

export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** A connection that failed or broke, and everything that a driver does not explain better. */
export function linkFailure(error: unknown): LinkFailure {
  if (error instanceof LinkFailure) return error
  if (!(error instanceof Error)) return new LinkFailure('connection_reset', BROKEN)
  const [code, detail] = reasonOf(error)
  return new LinkFailure(code, code === 'connection_reset' ? BROKEN : detail)
}

const BROKEN = 'The connection broke before the destination confirmed the event.'

/** The message of the other system, on one line and bounded. */
export function saidBy(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  return said.replaceAll(/\s+/g, ' ').replaceAll('\0', '').trim().slice(0, SAID_CHARS_MAX)
}

/** A refusal by a system with useful messages: our sentence, then its message. */
export function refusedBy(error: unknown, sentence = 'The destination refused the event.'): LinkFailure {
  return new LinkFailure('refused', `${sentence} It says: ${saidBy(error)}`)
}

export function noAccess(error: unknown): LinkFailure {
  return new LinkFailure(
    'auth_failed',
    `The destination does not accept the credentials. Check auth and the permissions of this user. It says: ${saidBy(error)}`,
  )
}

export function tooLarge(bytes: number, bytesMax: number | undefined): LinkFailure {
  const most = bytesMax === undefined ? '' : ` (${bytesMax} bytes)`
  return new LinkFailure(
    'event_too_large',
    `The event has ${bytes} bytes, which is more than the destination accepts${most}. Postroad does not retry it.`,
  )
}
