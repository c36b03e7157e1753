import { INSTALLATION, type HeavyAsked } from '../platform/heavy/heavy.ts'
import type { Captured, Receiver } from './types.ts'

/**
 * Whose turn the threads use for an event. A loop waits as long as it must, and the loops that store events of many workspaces
 * together do not wait for the other tasks of one of them.
 */
export function turnOf({
  captured: { address, again },
  receiver: { plan },
}: {
  readonly captured: Captured
  readonly receiver: Receiver
}): Pick<HeavyAsked<unknown>, 'workspaceId' | 'isPatient'> {
  const isOfLoop = again === true || address.kind === 'origin'
  const isShared = again === true || (address.kind === 'origin' && address.origin.kind === 'workflow')
  return { workspaceId: isShared ? INSTALLATION : plan.workspaceId, isPatient: isOfLoop }
}
