import type { DestinationAuth, DestinationProxy, DestinationTls } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { whyAuthoritiesRefused, whyClientCertificateRefused } from '../../../domain/delivery/certificates.ts'
import { headerNameOf, heldAuth, secretOf, type HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import type { HeldProxy, HeldTls, Reach } from '../../../domain/delivery/destination-reach.ts'
import { refuse } from '../../../domain/refusal.ts'
import { whyHeaderRefused } from '../../../platform/outbound-http.ts'
import type { SentReach } from './reach.ts'

type Change = {
  readonly sent: SentReach & { readonly url: string }
  readonly headers: Readonly<Record<string, string>>
  /** The names of those whose value was not sent. */
  readonly keptHeaders: readonly string[]
  readonly held: Reach
  /** Where held secrets were meant for; undefined when none are. */
  readonly heldUrl: string | undefined
}
type Checks = Pick<Ctx, 'clock' | 'whyUrlRefused'>

/** What holds after a change, or the refusal that says which member is wrong. */
export function changedReach(ctx: Checks, { sent, headers, keptHeaders, held, heldUrl }: Change): Reach {
  const reach = {
    auth: sent.auth === undefined ? held.auth : checkedAuth(ctx, sent.auth, held.auth),
    tls: sent.tls === undefined ? held.tls : checkedTls(ctx, sent.tls, held.tls),
    proxy: sent.proxy === undefined ? held.proxy : checkedProxy(ctx, sent.proxy, held.proxy),
  }
  if (reach.tls !== null && !sent.url.toLowerCase().startsWith('https:'))
    throw refuse('invalid_request', 'tls: needs an https url; send null to remove it.')
  const name = headerNameOf(reach.auth)
  if (name !== undefined && Object.keys(headers).some((header) => header.toLowerCase() === name)) {
    throw refuse('invalid_request', `headers: ${name} is set by auth; remove one of them.`)
  }
  if (heldUrl !== undefined) checkSecretsStay({ sent, reach, keptHeaders, held, heldUrl })
  return reach
}

/** A held secret goes only where it was meant for, and so does the value of a custom header, which may be one. */
function checkSecretsStay({
  sent,
  reach,
  keptHeaders,
  held,
  heldUrl,
}: Pick<Change, 'sent' | 'keptHeaders' | 'held'> & { reach: Reach; heldUrl: string }): void {
  const keepsSecret =
    held.auth !== null && reach.auth !== null && (sent.auth === undefined || secretOf(sent.auth) === undefined)
  const isElsewhere = whereTo(heldUrl, held) !== whereTo(sent.url, reach)
  if (keepsSecret && (isElsewhere || tokenUrlOf(held) !== tokenUrlOf(reach)))
    throw refuse(
      'invalid_request',
      'auth: send its secret again, for it would now go elsewhere: the origin of the url, the token endpoint, the proxy or the trusted authorities are others.',
    )
  if (keptHeaders.length > 0 && isElsewhere)
    throw refuse(
      'invalid_request',
      `headers: Send the value of ${keptHeaders.join(', ')} again, or leave the header out. ` +
        'The origin of the url, the proxy or the trusted authorities change, and a stored value of the destination is not sent to another place.',
    )
}

/** Everybody who may come to see what a request carries. */
function whereTo(url: string, { tls, proxy }: Reach): string {
  return JSON.stringify([URL.parse(url)?.origin, proxy?.url ?? null, tls?.ca ?? null])
}

function tokenUrlOf({ auth }: Reach): string | null {
  return auth?.kind === 'oauth2_client_credentials' ? auth.token_url : null
}

function checkedAuth(ctx: Checks, sent: DestinationAuth, held: HeldAuth | null): HeldAuth | null {
  const auth = heldAuth(sent, held)
  if (auth === null) return null
  if ('missing' in auth)
    throw refuse('invalid_request', `auth.${auth.missing}: is needed to turn the kind ${sent.kind} on; send it.`)
  if (auth.kind === 'oauth2_client_credentials') {
    const why = ctx.whyUrlRefused(auth.token_url)
    if (why !== undefined) throw refuse('invalid_url', `auth.token_url: ${why}`)
  }
  if (auth.kind === 'header') {
    const why = whyHeaderRefused(auth.header, auth.secret)
    if (why !== undefined) throw refuse('invalid_request', `auth.header: ${why}`)
  }
  return auth
}

function checkedTls(ctx: Checks, sent: DestinationTls, held: HeldTls | null): HeldTls | null {
  if (sent === null) return null
  const { certificate, private_key, ca } = sent
  if (certificate === undefined && ca === undefined)
    throw refuse('invalid_request', 'tls: needs a certificate, a ca, or both; send null to remove it.')
  const why = ca === undefined ? undefined : whyAuthoritiesRefused(ca, ctx.clock.now())
  if (why !== undefined) throw refuse('invalid_request', `tls.ca: ${why}.`)
  if (certificate !== undefined)
    return { certificate, private_key: checkedKey(ctx, certificate, private_key ?? held?.private_key), ca }
  if (private_key !== undefined) throw refuse('invalid_request', 'tls.certificate: is needed with a private key.')
  return { ca }
}

function checkedKey(ctx: Checks, certificate: string, privateKey: string | undefined): string {
  if (privateKey === undefined)
    throw refuse('invalid_request', 'tls.private_key: is needed with a certificate; send it.')
  const refused = whyClientCertificateRefused({ certificate, privateKey, now: ctx.clock.now() })
  if (refused !== undefined) throw refuse('invalid_request', `tls.${refused.member}: ${refused.why}.`)
  return privateKey
}

function checkedProxy(ctx: Checks, sent: DestinationProxy, held: HeldProxy | null): HeldProxy | null {
  if (sent === null) return null
  const { username } = sent
  const url = checkedProxyUrl(ctx, sent.url)
  const isSame = held?.url === url && held.username === username
  const password = sent.password ?? (isSame ? held.password : undefined)
  if (username === undefined && password !== undefined)
    throw refuse('invalid_request', 'proxy.username: is needed with a password.')
  if (username !== undefined && password === undefined)
    throw refuse(
      'invalid_request',
      'proxy.password: is needed with a user name; send it, too, when the proxy or the user name changes.',
    )
  return { url, username, password }
}

/** Plain http to a proxy is allowed anywhere: what goes through it to an https destination is sealed by that TLS. */
function checkedProxyUrl(ctx: Checks, text: string): string {
  const url = URL.parse(text)
  const parts = url === null ? [] : [url.pathname.replace('/', ''), url.search, url.hash]
  if (url === null || !/^https?:$/.test(url.protocol) || parts.some((part) => part !== ''))
    throw refuse('invalid_request', 'proxy.url: must be http:// or https://, a host, and a port.')
  if (url.username !== '' || url.password !== '')
    throw refuse(
      'invalid_request',
      'proxy.url: must not contain a user name or password; send them as username and password.',
    )
  const why = ctx.whyUrlRefused(url.origin.replace(/^http:/, 'https:'))
  if (why !== undefined) throw refuse('invalid_url', `proxy.url: ${why}`)
  return url.origin
}
