import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { KINDS } from '../../../domain/delivery/destination-kind.ts'
import { storedSend } from '../../../domain/delivery/sent-request.ts'
import type { Evidence } from '../payload.ts'
import { failure, NOTHING_SEEN, textOf, TOO_LATE, type SendPrepared } from './types.ts'
import { withoutSecrets } from './without-secrets.ts'

/** Sends over a connection that stays open: to databases, brokers and mail servers. */
export function createLinkSender({ links }: Pick<Deps, 'links'>): SendPrepared {
  return async ({ target, event, lane, request, timeLeft }) => {
    const { config, place, version, maxInFlight } = target
    if (place === undefined) throw new Error(`The kind ${config.kind} has no link.`)
    const leftMs = timeLeft()
    if (leftMs <= 0) return failure({ code: 'timeout', detail: TOO_LATE })
    const result = await links.send({
      lane,
      key: version,
      place,
      config,
      maxInFlight,
      timeoutMs: Math.min(request.timeoutMs, leftMs),
      message: {
        id: event.id,
        dataset: event.dataset,
        receivedAt: event.received_at,
        body: textOf(request),
        headers: request.headers,
      },
    })
    const sent = JSON.stringify(storedSend(request, KINDS[config.kind]))
    const { durationMs } = result
    if (result.kind === 'failure')
      return failure({ ...result, detail: withoutSecrets(result.detail, target), request: sent })
    const text = withoutSecrets(result.text, target).slice(0, LIMITS.destinationNoteCharsMax)
    const evidence: Evidence = {
      ...NOTHING_SEEN,
      durationMs,
      body: text,
      truncated: false,
      detail: null,
      request: sent,
    }
    return { type: 'accepted', evidence }
  }
}
