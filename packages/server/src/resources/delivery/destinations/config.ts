import type { DestinationConfig } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { validateClientCertificate } from '../../../domain/delivery/certificates.ts'
import { SECRET_MEMBER, type HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import type { HeldProxy, HeldTls, Reach } from '../../../domain/delivery/destination-reach.ts'
import { whereTo } from './changed-reach.ts'
import { openHeaders } from './headers.ts'
import { listDestinations, type DestinationRow } from './queries.ts'
import { NO_REACH, openReach } from './reach.ts'

type WithoutSecret<Auth> = Auth extends HeldAuth ? Omit<Auth, 'secret'> : never

/** The reach of a destination in a project configuration: settings without secrets. */
export type ReachConfig = {
  /** The names of its custom headers. */
  readonly headers: readonly string[]
  readonly auth: WithoutSecret<HeldAuth> | null
  readonly tls: Pick<HeldTls, 'certificate' | 'ca'> | null
  readonly proxy: Pick<HeldProxy, 'url' | 'username'> | null
}

export type ConfiguredDestination = { readonly row: DestinationRow; readonly reach: ReachConfig }

/** The destinations that the project owns, newest first, for its configuration. Those of customers belong to their portal. */
export async function listConfiguredDestinations(
  ctx: Ctx,
  { after: before, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly ConfiguredDestination[]> {
  const rows = await listDestinations(ctx.db, { ...ctx, before, limit, owner: 'project' })
  return rows.map((row) => ({ row, reach: reachConfig(ctx, row) }))
}

function reachConfig(ctx: Pick<Ctx, 'cipher'>, row: DestinationRow): ReachConfig {
  const { auth, tls, proxy } = openReach(ctx, row)
  return {
    headers: Object.keys(openHeaders(ctx, row)).toSorted(),
    auth: auth === null ? null : withoutSecret(auth),
    tls: tls === null ? null : defined({ certificate: tls.certificate, ca: tls.ca }),
    proxy: proxy === null ? null : defined({ url: proxy.url, username: proxy.username }),
  }
}

function withoutSecret({ secret: _secret, ...settings }: HeldAuth): WithoutSecret<HeldAuth> {
  return defined(settings)
}

const defined = <T extends object>(value: T): T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only members without a value are left out
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T

type Wanted = ReachConfig & { readonly url: string; readonly config: DestinationConfig }

/** The secrets that a destination needs for this reach, but does not have for that place. */
export function missingSecrets(
  ctx: Pick<Ctx, 'cipher' | 'clock'>,
  { row, wanted }: { readonly row: DestinationRow | undefined; readonly wanted: Wanted },
): readonly string[] {
  const held = row === undefined ? NO_REACH : openReach(ctx, row)
  const names = row === undefined ? [] : Object.keys(openHeaders(ctx, row)).map((name) => name.toLowerCase())
  const isThere = row !== undefined && whereTo(row, held) === whereTo(wanted, placeOf(wanted))
  return [
    ...(wanted.auth === null || (isThere && fitsAuth(held, wanted.auth))
      ? []
      : [`auth.${SECRET_MEMBER[wanted.auth.kind]}`]),
    ...wanted.headers
      .filter((name) => !isThere || !names.includes(name.toLowerCase()))
      .map((name) => `headers.${name}`),
    ...(fitsTls(ctx, held, wanted.tls) ? [] : ['tls.private_key']),
    ...(fitsProxy(held, wanted.proxy) ? [] : ['proxy.password']),
  ]
}

const originOf = (url: string): string => URL.parse(url)?.origin ?? url

function placeOf({ tls, proxy }: Wanted): Pick<Reach, 'tls' | 'proxy'> {
  return { tls, proxy: proxy === null ? null : { ...proxy, url: originOf(proxy.url) } }
}

function fitsAuth({ auth }: Reach, wanted: WithoutSecret<HeldAuth>): boolean {
  if (auth?.kind !== wanted.kind) return false
  return !('token_url' in wanted) || ('token_url' in auth && auth.token_url === wanted.token_url)
}

function fitsTls({ clock }: Pick<Ctx, 'clock'>, { tls }: Reach, wanted: ReachConfig['tls']): boolean {
  if (wanted?.certificate === undefined) return true
  if (tls?.private_key === undefined) return false
  const { certificate } = wanted
  const refused = validateClientCertificate({ certificate, privateKey: tls.private_key, now: clock.now() })
  return refused?.member !== 'private_key'
}

function fitsProxy({ proxy }: Reach, wanted: ReachConfig['proxy']): boolean {
  if (wanted?.username === undefined) return true
  return proxy?.password !== undefined && proxy.url === originOf(wanted.url) && proxy.username === wanted.username
}
