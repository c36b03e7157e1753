import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import { networkOf } from '../../../domain/ip-range.ts'
import { inTransaction } from '../../../transaction.ts'
import { openSession } from '../sessions/index.ts'
import { throttle } from '../throttles/index.ts'

/** A visitor who is not signed in yet, with their origin. */
export type Visit = Deps & {
  readonly requestId: string
  readonly ip: string | undefined
  readonly userAgent: string | undefined
  /** The secret in the session cookie of the request. */
  readonly cookieSecret: string | undefined
}

type Signing = Parameters<typeof openSession>[1]

/** One transaction for a visitor. */
export function atTheDoor<T>(visit: Visit, work: (tx: Ctx) => Promise<T>): Promise<T> {
  const { requestId, ip } = visit
  // oxlint-disable-next-line house/verb-guards -- openSession audits the sign-in; the request for a link changes nothing
  return inTransaction({ ...asSystem(visit, { workspaceId: '', projectId: '', requestId }), ip }, work)
}

/** Opens the session of a person who has proven their identity. */
export function welcome(
  visit: Visit,
  tx: Ctx,
  of: Pick<Signing, 'userId' | 'method' | 'workspaceId' | 'did'>,
): Promise<string> {
  return openSession(tx, { ...of, userAgent: visit.userAgent, replaces: visit.cookieSecret })
}

/** Limits the tries of one network, whatever their kind: a burst of 120, then one every 2 seconds. */
export function throttleNetwork(visit: Visit): Promise<void> {
  return throttle(visit, { what: 'network', whose: networkOf(visit.ip), burst: 120, refillMs: 2_000 })
}
