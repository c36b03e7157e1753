import type { DestinationAuth, DestinationProxy, DestinationTls } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { validateAuthorities, validateClientCertificate } from '../../../domain/delivery/certificates.ts'
import { headerNameOf, heldAuth, secretOf, type HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import type { HeldProxy, HeldTls, Reach } from '../../../domain/delivery/destination-reach.ts'
import { refuse } from '../../../domain/refusal.ts'
import { validateHeader } from '../../../platform/outbound-http.ts'
import type { SentReach } from './reach.ts'

type Change = {
  readonly sent: SentReach & { readonly url: string }
  readonly headers: Readonly<Record<string, string>>
  /** The names of the headers whose value the request leaves out. */
  readonly retainedHeaders: readonly string[]
  readonly held: Reach
  /** The URL that the stored secrets were set for; undefined when there are none. */
  readonly heldUrl: string | undefined
}
type Checks = Pick<Ctx, 'clock' | 'validateUrl'>

/** The settings after a change, or a refusal that names the wrong member. */
export function changedReach(ctx: Checks, { sent, headers, retainedHeaders, held, heldUrl }: Change): Reach {
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
  if (heldUrl !== undefined) checkSecretsStay({ sent, reach, retainedHeaders, held, heldUrl })
  return reach
}

/** A stored secret goes only to the place that it was set for. So does the value of a custom header, which may be a secret. */
function checkSecretsStay({
  sent,
  reach,
  retainedHeaders,
  held,
  heldUrl,
}: Pick<Change, 'sent' | 'retainedHeaders' | 'held'> & { reach: Reach; heldUrl: string }): void {
  const keepsSecret =
    held.auth !== null && reach.auth !== null && (sent.auth === undefined || secretOf(sent.auth) === undefined)
  const isElsewhere = whereTo(heldUrl, held) !== whereTo(sent.url, reach)
  if (keepsSecret && (isElsewhere || tokenUrlOf(held) !== tokenUrlOf(reach)))
    throw refuse(
      'invalid_request',
      'auth: send its secret again. The origin of the url, the token endpoint, the proxy or the trusted authorities change, and a stored secret is not sent to another place.',
    )
  if (retainedHeaders.length > 0 && isElsewhere)
    throw refuse(
      'invalid_request',
      `headers: Send the value of ${retainedHeaders.join(', ')} again, or leave the header out. ` +
        'The origin of the url, the proxy or the trusted authorities change, and a stored value of the destination is not sent to another place.',
    )
}

/** Every party that can see the content of a request. */
export function whereTo(url: string, { tls, proxy }: Pick<Reach, 'tls' | 'proxy'>): string {
  return JSON.stringify([URL.parse(url)?.origin, proxy?.url ?? null, tls?.ca ?? null])
}

function tokenUrlOf({ auth }: Reach): string | null {
  return auth?.kind === 'oauth2_client_credentials' ? auth.token_url : null
}

function checkedAuth(ctx: Checks, sent: DestinationAuth, held: HeldAuth | null): HeldAuth | null {
  const auth = heldAuth(sent, held)
  if (auth === null) return null
  if ('missing' in auth)
    throw refuse('invalid_request', `auth.${auth.missing}: is required for the kind ${sent.kind}; send it.`)
  if (auth.kind === 'oauth2_client_credentials') {
    const why = ctx.validateUrl(auth.token_url)
    if (why !== undefined) throw refuse('invalid_url', `auth.token_url: ${why}`)
  }
  if (auth.kind === 'header') {
    const why = validateHeader(auth.header, auth.secret)
    if (why !== undefined) throw refuse('invalid_request', `auth.header: ${why}`)
  }
  return auth
}

function checkedTls(ctx: Checks, sent: DestinationTls, held: HeldTls | null): HeldTls | null {
  if (sent === null) return null
  const { certificate, private_key, ca } = sent
  if (certificate === undefined && ca === undefined)
    throw refuse('invalid_request', 'tls: must have a certificate, a ca, or both; send null to remove it.')
  const why = ca === undefined ? undefined : validateAuthorities(ca, ctx.clock.now())
  if (why !== undefined) throw refuse('invalid_request', `tls.ca: ${why}.`)
  if (certificate !== undefined)
    return { certificate, private_key: checkedKey(ctx, certificate, private_key ?? held?.private_key), ca }
  if (private_key !== undefined)
    throw refuse('invalid_request', 'tls.certificate: is required with a private key; send it.')
  return { ca }
}

function checkedKey(ctx: Checks, certificate: string, privateKey: string | undefined): string {
  if (privateKey === undefined)
    throw refuse('invalid_request', 'tls.private_key: is required with a certificate; send it.')
  const refused = validateClientCertificate({ certificate, privateKey, now: ctx.clock.now() })
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
    throw refuse('invalid_request', 'proxy.username: is required with a password; send it.')
  if (username !== undefined && password === undefined)
    throw refuse(
      'invalid_request',
      'proxy.password: is required with a user name. Send it again when the proxy or the user name changes.',
    )
  return { url, username, password }
}

/** Plain http to a proxy is allowed anywhere: TLS to an https destination encrypts everything that goes through the proxy. */
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
  const why = ctx.validateUrl(url.origin.replace(/^http:/, 'https:'))
  if (why !== undefined) throw refuse('invalid_url', `proxy.url: ${why}`)
  return url.origin
}
