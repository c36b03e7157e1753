import { INSTALLATION, type HeavyAsked } from '../platform/heavy/heavy.ts'
import type { Captured, Receiver } from './types.ts'

/**
 * The credential of a request pays for its work: anybody can post to a URL, so its workspace does not. The two URLs of an
 * endpoint are one credential during a rotation.
 */
export function payerOf({ ingestKeyId, webhook }: Pick<Receiver, 'ingestKeyId' | 'webhook'>): string {
  return ingestKeyId ?? webhook?.id ?? ''
}

/**
 * Whose turn the threads use for an event. A loop waits as long as it must, and the loops that store events of many workspaces
 * together do not wait for the other tasks of one of them.
 */
export function turnOf({
  captured: { address, again },
  receiver,
}: {
  readonly captured: Captured
  readonly receiver: Receiver
}): Pick<HeavyAsked<unknown>, 'workspaceId' | 'isPatient' | 'payer'> {
  const isOfLoop = again === true || address.kind === 'origin'
  const isShared = again === true || (address.kind === 'origin' && address.origin.kind === 'workflow')
  return {
    workspaceId: isShared ? INSTALLATION : receiver.plan.workspaceId,
    isPatient: isOfLoop,
    ...(isOfLoop ? {} : { payer: payerOf(receiver) }),
  }
}
