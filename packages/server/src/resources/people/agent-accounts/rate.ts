import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { sourceOf } from '../../../domain/people/source-network.ts'
import { hasRoom, type Limit } from '../throttles/index.ts'

/** Counts one request of a source, on all nodes together. Throws 429 `rate_limited`. */
export async function requireRoomFor(
  deps: Deps,
  of: Limit & { readonly what: string; readonly whose: string },
): Promise<void> {
  if (await hasRoom(deps, of)) return
  throw new Refusal('rate_limited', {
    text: 'Too many requests from this address. Continue after retry_after seconds.',
    fields: { retry_after: Math.ceil(of.refillMs / 1_000) },
  })
}

/** Counts a request that costs its sender no work: for a challenge, or a registration without a challenge of this server. */
export function requireRoomForRequest(deps: Deps, ip: string | undefined): Promise<void> {
  return requireRoomFor(deps, {
    what: 'agent_challenge',
    whose: sourceOf(ip),
    burst: LIMITS.agentChallengeBurst,
    refillMs: LIMITS.agentChallengeRefillMs,
  })
}

/** Refuses with `refusal`, and counts the request. */
export async function countedRefusal(deps: Deps, of: { refusal: unknown; ip: string | undefined }): Promise<never> {
  if (of.refusal instanceof Refusal) await requireRoomForRequest(deps, of.ip)
  throw of.refusal
}
