import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import { networkOf } from '../../../domain/ip-range.ts'
import { inTransaction } from '../../../transaction.ts'
import { openSession } from '../sessions/index.ts'
import { throttle } from '../throttles/index.ts'

/** Somebody at the door: nobody yet, from somewhere. */
export type Visit = Deps & {
  readonly requestId: string
  readonly ip: string | undefined
  readonly userAgent: string | undefined
  /** The secret of the session cookie that came along. */
  readonly cookieSecret: string | undefined
}

type Signing = Parameters<typeof openSession>[1]

/** One transaction at the door. */
export function atTheDoor<T>(visit: Visit, work: (tx: Ctx) => Promise<T>): Promise<T> {
  const { requestId, ip } = visit
  // oxlint-disable-next-line house/verb-guards -- openSession audits who came in; a link that is asked for changes nothing yet
  return inTransaction({ ...asSystem(visit, { workspaceId: '', projectId: '', requestId }), ip }, work)
}

/** Opens the session of somebody who has proven who they are. */
export function welcome(
  visit: Visit,
  tx: Ctx,
  of: Pick<Signing, 'userId' | 'method' | 'workspaceId' | 'did'>,
): Promise<string> {
  return openSession(tx, { ...of, userAgent: visit.userAgent, replaces: visit.cookieSecret })
}

/** So many tries for one network, whatever they are tries of: 120 at once, and one more every 2 seconds. */
export function throttleNetwork(visit: Visit): Promise<void> {
  return throttle(visit, { what: 'network', whose: networkOf(visit.ip), burst: 120, refillMs: 2_000 })
}
