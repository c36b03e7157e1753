import type { DestinationAuth, DestinationProxy, DestinationTls } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { certificateFacts } from '../../../domain/delivery/certificates.ts'
import type { HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import { reachOf, type HeldTls, type Reach } from '../../../domain/delivery/destination-reach.ts'
import { secretPlace } from '../../secret-place.ts'

/** Each of the three is sealed in its own column; null when there is nothing to store. */
export type SealedReach = { readonly auth: Buffer | null; readonly tls: Buffer | null; readonly proxy: Buffer | null }
export type SentReach = {
  readonly auth?: DestinationAuth | undefined
  readonly tls?: DestinationTls | undefined
  readonly proxy?: DestinationProxy | undefined
}
type Column = keyof SealedReach

export const NO_REACH: Reach = { auth: null, tls: null, proxy: null }
export const NOTHING_SEALED: SealedReach = { auth: null, tls: null, proxy: null }

export function openReach(ctx: Pick<Ctx, 'cipher'>, of: SealedReach & { readonly id: string }): Reach {
  const open = (column: Column): string | null => {
    const sealed = of[column]
    return sealed === null ? null : ctx.cipher.open(sealed, secretPlace(`destinations.${column}`, of.id)).reveal()
  }
  return reachOf({ auth: open('auth'), tls: open('tls'), proxy: open('proxy') })
}

/** Seals each changed column. An unchanged one has the same bytes, because an access token belongs to the bytes of `auth`. */
export function sealReach(
  ctx: Pick<Ctx, 'cipher'>,
  of: { readonly id: string; readonly reach: Reach; readonly sent: SentReach; readonly held: SealedReach },
): SealedReach {
  const seal = (column: Column): Buffer | null => {
    if (of.sent[column] === undefined) return of.held[column]
    const value = of.reach[column]
    return value === null ? null : ctx.cipher.seal(JSON.stringify(value), secretPlace(`destinations.${column}`, of.id))
  }
  return { auth: seal('auth'), tls: seal('tls'), proxy: seal('proxy') }
}

/** The part that responses show: the settings, and whether a secret is stored. */
export function presentReach({ auth, tls, proxy }: Reach) {
  return {
    auth: presentAuth(auth),
    tls: tls === null ? null : presentTls(tls),
    proxy:
      proxy === null ? null : { url: proxy.url, username: proxy.username, has_password: proxy.password !== undefined },
  }
}

function presentAuth(auth: HeldAuth | null) {
  if (auth === null) return { kind: 'none' as const }
  const { secret: _secret, ...settings } = auth
  return { ...settings, has_secret: true }
}

function presentTls({ certificate, private_key, ca }: HeldTls) {
  return {
    certificate: certificate === undefined ? null : (certificateFacts(certificate)[0] ?? null),
    has_private_key: private_key !== undefined,
    ca: ca === undefined ? [] : [...certificateFacts(ca)],
  }
}
