import type { DestinationAuth, DestinationConfig, DestinationProxy } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import { guardedUrl, guardSentence, KINDS, urlFault } from '../../../domain/delivery/destination-kind.ts'
import { refuse } from '../../../domain/refusal.ts'

type Settings = {
  readonly config: DestinationConfig
  readonly headers: Readonly<Record<string, string>>
  readonly auth: HeldAuth | DestinationAuth | null
  readonly proxy: DestinationProxy | object | null
}

/** Refuses a URL that no delivery of this kind could ever reach. Names are resolved at each use, not here. */
export function checkUrl(config: DestinationConfig, url: string, validateUrl: Ctx['validateUrl']): void {
  const fault = urlFault(config, url)
  if (config.kind !== 'http' && fault !== undefined) throw refuse('invalid_url', fault)
  const why = validateUrl(guardedUrl(config, url))
  if (why !== undefined) throw refuse('invalid_url', guardSentence(config, why))
}

/** Refuses settings that the kind does not use, so that none is stored without an effect. */
export function checkKind({ config, headers, auth, proxy }: Settings): void {
  const { kind } = config
  const facts = KINDS[kind]
  const authKind = auth?.kind ?? 'none'
  if (!facts.auth.includes(authKind))
    throw refuse(
      'invalid_request',
      `auth.kind: a destination of the kind ${kind} accepts ${facts.auth.join(', ')}, not ${authKind}.`,
    )
  if (!facts.hasHeaders && Object.keys(headers).length > 0)
    throw refuse('invalid_request', `headers: a destination of the kind ${kind} has no headers; leave them out.`)
  if (!facts.isHttp && proxy !== null)
    throw refuse(
      'invalid_request',
      `proxy: only HTTP destinations use a proxy, and a destination of the kind ${kind} does not use HTTP; send null.`,
    )
}

/** A destination of another kind has another meaning for its settings and secrets, so it is another destination. */
export function checkSameKind(held: DestinationConfig, sent: DestinationConfig | undefined): void {
  if (sent === undefined || sent.kind === held.kind) return
  throw refuse(
    'invalid_request',
    `config.kind: this destination has the kind ${held.kind}, which cannot change; create another destination.`,
  )
}
