import type { RouteInput, Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import type { WsSecret } from '../../../domain/sources/secret.ts'
import { bringsEveryValue, changedHeaders } from '../held-headers.ts'
import type { WsTriggerRow } from './queries.ts'

export function sealWsSecret(ctx: Ctx, { id, secret }: { id: string; secret: WsSecret }): Buffer {
  return ctx.cipher.seal(JSON.stringify(secret), secretPlace('ws_triggers.secret', id))
}

export function openWsSecret(ctx: Pick<Ctx, 'cipher'>, { id, secret }: Pick<WsTriggerRow, 'id' | 'secret'>): WsSecret {
  if (secret === null) return { headers: {}, subscribe: [] }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by sealWsSecret, and opens only as it was sealed
  return JSON.parse(ctx.cipher.open(secret, secretPlace('ws_triggers.secret', id)).reveal()) as WsSecret
}

type Change = Pick<RouteInput<Routes['wsTriggers']['update']>, 'url' | 'headers' | 'subscribe'>

/** The secret after a change. Stored values go only to the origin that they were set for. */
export function changedWsSecret(change: Change, { url, secret }: { url: string; secret: WsSecret }): WsSecret {
  const moves = change.url !== undefined && URL.parse(change.url)?.origin !== URL.parse(url)?.origin
  const keepsHeaders = !bringsEveryValue(change.headers, secret.headers)
  const keepsMessages = change.subscribe === undefined && secret.subscribe.length > 0
  if (moves && (keepsHeaders || keepsMessages))
    throw refuse(
      'invalid_request',
      'url: send the header values and subscribe messages again, because the origin of the url changes and the stored values were set for the current origin.',
    )
  return {
    headers: change.headers === undefined ? secret.headers : changedHeaders(change.headers, secret.headers),
    subscribe: change.subscribe ?? secret.subscribe,
  }
}
