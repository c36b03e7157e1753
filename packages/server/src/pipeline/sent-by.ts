import { receivedView, type Received } from '../domain/capture/request-view.ts'
import { tokenHeader } from '../domain/capture/stored-headers.ts'
import type { RequestView } from '../domain/routing/event-path.ts'
import { credentialIn, type Verified } from './types.ts'

type Of = Pick<Verified, 'captured' | 'receiver'>

/** The parts of its request that paths read beside the headers; null: no sender sent the event. */
export function sentBy({ captured: { address, target }, receiver: { webhook } }: Of): Omit<Received, 'headers'> | null {
  if (address.kind === 'origin') return null
  return { target, credential: credentialIn(address), token: tokenHeader(webhook) }
}

/** The request as paths read it; null: no sender sent the event. */
export function requestOf(of: Of): RequestView | null {
  const sent = sentBy(of)
  return sent === null ? null : receivedView({ headers: of.captured.headers, ...sent })
}
