import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { insertQuarantined } from '../../resources/capture/quarantine/queries.ts'
import type { Refused } from '../sample-refusals.ts'
import type { Rejected } from '../types.ts'
import { sealRequest } from './sealed-request.ts'

/** The requests that endpoints refuse for their signature, but store because their owner asked for that. */
export type Quarantine = {
  /**
   * Stores a rejected request, if its endpoint has a quarantine with room for it. Never fails: the sender gets the same 401 in any
   * case.
   */
  take(refused: Refused, rejected: Rejected): Promise<void> | undefined
}

const HOUR_MS = 3_600_000
const SECOND_MS = 1_000
const ENDPOINTS_MAX = 10_000
const { quarantinePerSecondMax, quarantineRequestsMax, quarantineBytesMax } = LIMITS

/** Anyone who knows the URL can send forgeries, so a process stores few of them a second for each endpoint. */
export function createQuarantine(deps: Deps): Quarantine {
  const seconds = new Map<string, { readonly second: number; count: number }>()
  const mayTake = (webhookId: string): boolean => {
    const second = Math.floor(deps.clock.now() / SECOND_MS)
    const known = seconds.get(webhookId)
    if (known?.second === second) {
      known.count += 1
      return known.count <= quarantinePerSecondMax
    }
    if (seconds.size >= ENDPOINTS_MAX) seconds.clear()
    seconds.set(webhookId, { second, count: 1 })
    return true
  }
  return {
    take: (refused, { reason }) => {
      const { captured, receiver } = refused
      const { webhook, plan } = receiver
      if (webhook === undefined || webhook.quarantineHours === 0 || captured.again === true) return undefined
      if (reason !== 'bad_signature' && reason !== 'missing_header') return undefined
      if (!mayTake(webhook.id)) return undefined
      const id = deps.uuid()
      return insertQuarantined(deps.database.forWorkspace(plan.workspaceId), {
        workspaceId: plan.workspaceId,
        projectId: plan.projectId,
        id,
        webhookId: webhook.id,
        reason,
        received_at: new Date(captured.receivedAt),
        expires_at: new Date(captured.receivedAt + webhook.quarantineHours * HOUR_MS),
        source_ip: captured.sourceIp ?? null,
        bytes: refused.body.length,
        request: sealRequest(deps, id, refused),
        requestsMax: quarantineRequestsMax,
        bytesMax: quarantineBytesMax,
      }).then(
        () => undefined,
        (cause: unknown) => deps.retryLog.warn('quarantine.not_stored', { cause }),
      )
    },
  }
}
