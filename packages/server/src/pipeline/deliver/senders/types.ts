import type { SentRequest } from '@postroad/contract'
import type { OutboundRequest } from '../../../platform/outbound-http.ts'
import type { Event } from '../../../domain/delivery/delivery-request.ts'
import type { Evidence } from '../payload.ts'
import type { ErrorCode, SendResult } from '../ports.ts'
import type { Target } from '../target.ts'

/**
 * One attempt, ready to be sent. `own` are the headers whose values are write-only. `ofCustomer`: a customer of a portal owns the
 * destination. The request is complete for HTTP; the senders of other kinds take only the parts that their systems use.
 */
export type Prepared = {
  readonly workspaceId: string
  readonly target: Target
  readonly event: Event
  readonly lane: string
  readonly request: OutboundRequest & {
    readonly form: SentRequest['body_form']
    readonly reason: SentRequest['body_reason']
    readonly own: Readonly<Record<string, string>>
    readonly ofCustomer: boolean
  }
  /** The services that the event has passed, for the headers of a batch. */
  readonly passed: { readonly hops: number; readonly chain: string | null }
  /** The time until the attempt must have ended, whatever its timeout is. */
  readonly timeLeft: () => number
}

/** The body as text. Only HTTP destinations get other bytes. */
export const textOf = ({ body }: Pick<Prepared['request'], 'body'>): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString()

/** Sends one attempt to one kind of destination; never rejects. */
export type SendPrepared = (prepared: Prepared) => Promise<SendResult>

export const NOTHING_SEEN = { headers: null, body: null, truncated: null, request: null } as const

export const TOO_LATE =
  'The server could not prepare the request in time, so it did not send it. The server log shows what is slow.'

/** The transform of the destination returned null for the event. */
export function skipped(): SendResult {
  const detail = 'The transform returned null, so no request was sent.'
  return { type: 'skipped', evidence: { ...NOTHING_SEEN, durationMs: null, detail } satisfies Evidence }
}

type Failed = {
  readonly code: ErrorCode
  readonly detail: string
  readonly durationMs?: number
  readonly isPermanent?: boolean
  /** Null: nothing was sent. */
  readonly request?: string | null
}

export function failure({ code, detail, durationMs = 0, isPermanent = false, request = null }: Failed): SendResult {
  const evidence: Evidence = { ...NOTHING_SEEN, durationMs: Math.round(durationMs), detail, request }
  return { type: 'failure', error_code: code, ...(isPermanent ? { permanent: true } : {}), evidence }
}
