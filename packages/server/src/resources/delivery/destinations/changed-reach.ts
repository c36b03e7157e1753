import type { DestinationAuth, DestinationConfig, DestinationProxy, DestinationTls } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { validateAuthorities, validateClientCertificate } from '../../../domain/delivery/certificates.ts'
import { headerNameOf, heldAuth, secretOf, type HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import type { HeldProxy, HeldTls, Reach } from '../../../domain/delivery/destination-reach.ts'
import { serviceAccountKey } from '../../../domain/delivery/service-account.ts'
import { addressOf, isEncrypted } from '../../../domain/delivery/destination-kind.ts'
import { refuse } from '../../../domain/refusal.ts'
import { validateHeader } from '../../../platform/outbound-http.ts'
import type { SentReach } from './reach.ts'

type Change = {
  readonly sent: SentReach & Place
  readonly headers: Readonly<Record<string, string>>
  /** The names of the headers whose value the request leaves out. */
  readonly retainedHeaders: readonly string[]
  readonly held: Reach
  /** The place that the stored secrets were set for; undefined when there are none. */
  readonly heldPlace: Place | undefined
}
type Place = { readonly url: string; readonly config: DestinationConfig }
type Checks = Pick<Ctx, 'clock' | 'validateUrl'>

/** The settings after a change, or a refusal that names the wrong member. */
export function changedReach(ctx: Checks, { sent, headers, retainedHeaders, held, heldPlace }: Change): Reach {
  const reach = {
    auth: sent.auth === undefined ? held.auth : checkedAuth(ctx, sent.auth, held.auth),
    tls: sent.tls === undefined ? held.tls : checkedTls(ctx, sent.tls, held.tls),
    proxy: sent.proxy === undefined ? held.proxy : checkedProxy(ctx, sent.proxy, held.proxy),
  }
  if (reach.tls !== null && !isEncrypted(sent.config, sent.url))
    throw refuse('invalid_request', `tls needs ${ENCRYPTED_BY[sent.config.kind]}; send null to remove it.`)
  const name = headerNameOf(reach.auth)
  if (name !== undefined && Object.keys(headers).some((header) => header.toLowerCase() === name)) {
    throw refuse('invalid_request', `headers: ${name} is set by auth; remove one of them.`)
  }
  if (heldPlace !== undefined) checkSecretsStay({ sent, reach, retainedHeaders, held, heldPlace })
  return reach
}

/** A stored secret goes only to the place that it was set for. So does the value of a custom header, which may be a secret. */
function checkSecretsStay({
  sent,
  reach,
  retainedHeaders,
  held,
  heldPlace,
}: Pick<Change, 'sent' | 'retainedHeaders' | 'held'> & { reach: Reach; heldPlace: Place }): void {
  const keepsSecret =
    held.auth !== null && reach.auth !== null && (sent.auth === undefined || secretOf(sent.auth) === undefined)
  const isElsewhere = whereTo(heldPlace, held) !== whereTo(sent, reach)
  if (keepsSecret && (isElsewhere || tokenUrlOf(held) !== tokenUrlOf(reach)))
    throw refuse(
      'invalid_request',
      'auth: send its secret again. The origin of the url, the token endpoint, the proxy or the trusted authorities change, and Postroad does not send a stored secret to another place.',
    )
  if (retainedHeaders.length > 0 && isElsewhere)
    throw refuse(
      'invalid_request',
      `headers: send the value of ${retainedHeaders.join(', ')} again, or leave the header out. ` +
        'The origin of the url, the proxy or the trusted authorities change, and Postroad does not send a stored value to another place.',
    )
}

/** Every party that can see the content of a request. */
export function whereTo({ url, config }: Place, { tls, proxy }: Pick<Reach, 'tls' | 'proxy'>): string {
  const { protocol, host, port } = addressOf(url)
  return JSON.stringify([protocol, host, port, isEncrypted(config, url), proxy?.url ?? null, tls?.ca ?? null])
}

/** The setting that encrypts a connection of each kind. */
const ENCRYPTED_BY: Readonly<Record<DestinationConfig['kind'], string>> = {
  http: 'an https url',
  postroad: 'an https url',
  kafka: 'a kafkas url',
  sqs: 'an https url',
  sns: 'an https url',
  pubsub: 'an https url',
  s3: 'an https url',
  postgres: 'config.encryption "verify"',
  smtp: 'an smtps url, or config.encryption "verify"',
  redis_stream: 'a rediss url',
  amqp: 'an amqps url',
  nats: 'a tls url',
}

function tokenUrlOf({ auth }: Reach): string | null {
  return auth?.kind === 'oauth2_client_credentials' ? auth.token_url : null
}

function checkedAuth(ctx: Checks, sent: DestinationAuth, held: HeldAuth | null): HeldAuth | null {
  const auth = heldAuth(sent, held)
  if (auth === null) return null
  if ('missing' in auth)
    throw refuse('invalid_request', `auth.${auth.missing} is required for the kind ${sent.kind}; send it.`)
  if (auth.kind === 'oauth2_client_credentials') {
    const why = ctx.validateUrl(auth.token_url)
    if (why !== undefined) throw refuse('invalid_url', `auth.token_url: ${why}`)
  }
  if (auth.kind === 'header') {
    const why = validateHeader(auth.header, auth.secret)
    if (why !== undefined) throw refuse('invalid_request', `auth.header: ${why}`)
  }
  if (auth.kind === 'google' && serviceAccountKey(auth.secret) === undefined)
    throw refuse(
      'invalid_request',
      'auth.private_key must be the private_key of the JSON key of a service account, an RSA key in PEM.',
    )
  return auth
}

function checkedTls(ctx: Checks, sent: DestinationTls, held: HeldTls | null): HeldTls | null {
  if (sent === null) return null
  const { certificate, private_key, ca } = sent
  if (certificate === undefined && ca === undefined)
    throw refuse('invalid_request', 'tls must have a certificate, a ca, or both; send null to remove it.')
  const why = ca === undefined ? undefined : validateAuthorities(ca, ctx.clock.now())
  if (why !== undefined) throw refuse('invalid_request', `tls.ca ${why}.`)
  if (certificate !== undefined)
    return { certificate, private_key: checkedKey(ctx, certificate, private_key ?? held?.private_key), ca }
  if (private_key !== undefined)
    throw refuse('invalid_request', 'tls.certificate is required with a private key; send it.')
  return { ca }
}

function checkedKey(ctx: Checks, certificate: string, privateKey: string | undefined): string {
  if (privateKey === undefined)
    throw refuse('invalid_request', 'tls.private_key is required with a certificate; send it.')
  const refused = validateClientCertificate({ certificate, privateKey, now: ctx.clock.now() })
  if (refused !== undefined) throw refuse('invalid_request', `tls.${refused.member} ${refused.why}.`)
  return privateKey
}

function checkedProxy(ctx: Checks, sent: DestinationProxy, held: HeldProxy | null): HeldProxy | null {
  if (sent === null) return null
  const { username } = sent
  const url = checkedProxyUrl(ctx, sent.url)
  const isSame = held?.url === url && held.username === username
  const password = sent.password ?? (isSame ? held.password : undefined)
  if (username === undefined && password !== undefined)
    throw refuse('invalid_request', 'proxy.username is required with a password; send it.')
  if (username !== undefined && password === undefined)
    throw refuse(
      'invalid_request',
      'proxy.password is required with a user name. Send it again when the proxy or the user name changes.',
    )
  return { url, username, password }
}

/** Plain http to a proxy is allowed anywhere: TLS to an https destination encrypts everything that goes through the proxy. */
function checkedProxyUrl(ctx: Checks, text: string): string {
  const url = URL.parse(text)
  const parts = url === null ? [] : [url.pathname.replace('/', ''), url.search, url.hash]
  if (url === null || !/^https?:$/.test(url.protocol) || parts.some((part) => part !== ''))
    throw refuse('invalid_request', 'proxy.url must be http:// or https://, a host, and a port.')
  if (url.username !== '' || url.password !== '')
    throw refuse(
      'invalid_request',
      'proxy.url must not contain a user name or password; send them as username and password.',
    )
  const why = ctx.validateUrl(url.origin.replace(/^http:/, 'https:'))
  if (why !== undefined) throw refuse('invalid_url', `proxy.url: ${why}`)
  return url.origin
}
