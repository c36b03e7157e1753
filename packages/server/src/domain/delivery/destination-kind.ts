import {
  LIMITS,
  type AuthKind,
  type DestinationConfig,
  type DestinationKind,
  type SendMethod,
} from '@postroad/contract'

/** The facts about each kind of destination: its addresses, and the settings that it can use. */
type KindFacts = {
  /** The protocols of its URL; the first one is for examples. */
  readonly protocols: readonly string[]
  readonly method: SendMethod
  readonly auth: readonly AuthKind[]
  /** Whether the headers of a delivery travel with the event. */
  readonly hasHeaders: boolean
  /** Whether it is reached by HTTP requests, which can go through a proxy. */
  readonly isHttp: boolean
}

const OF_HTTP = {
  protocols: ['https:', 'http:'],
  method: 'POST',
  auth: ['none', 'basic', 'bearer', 'header', 'oauth2_client_credentials', 'payload'],
  hasHeaders: true,
  isHttp: true,
} as const satisfies KindFacts
/** Requests to an API of AWS, signed with an access key. */
const OF_AWS = {
  protocols: ['https:', 'http:'],
  auth: ['none', 'aws'],
  hasHeaders: false,
  isHttp: true,
} as const
const WITH_USER = ['none', 'basic'] as const

export const KINDS: Readonly<Record<DestinationKind, KindFacts>> = {
  http: OF_HTTP,
  postroad: OF_HTTP,
  postgres: {
    protocols: ['postgres:', 'postgresql:'],
    method: 'INSERT',
    auth: WITH_USER,
    hasHeaders: false,
    isHttp: false,
  },
  redis_stream: { protocols: ['redis:', 'rediss:'], method: 'XADD', auth: WITH_USER, hasHeaders: false, isHttp: false },
  amqp: { protocols: ['amqp:', 'amqps:'], method: 'PUBLISH', auth: WITH_USER, hasHeaders: true, isHttp: false },
  nats: {
    protocols: ['nats:', 'tls:'],
    method: 'PUBLISH',
    auth: ['none', 'basic', 'bearer'],
    hasHeaders: true,
    isHttp: false,
  },
  kafka: { protocols: ['kafka:', 'kafkas:'], method: 'PRODUCE', auth: WITH_USER, hasHeaders: true, isHttp: false },
  sqs: { ...OF_AWS, method: 'SEND' },
  sns: { ...OF_AWS, method: 'PUBLISH' },
  pubsub: {
    protocols: ['https:', 'http:'],
    method: 'PUBLISH',
    auth: ['none', 'google'],
    hasHeaders: true,
    isHttp: true,
  },
  s3: { ...OF_AWS, method: 'PUT' },
  smtp: { protocols: ['smtp:', 'smtps:'], method: 'MAIL', auth: WITH_USER, hasHeaders: false, isHttp: false },
}

/** Whether its receiver gets an HTTP request of any form for each event. */
export const takesRequests = ({ kind }: DestinationConfig): boolean => kind === 'http' || kind === 'postroad'

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'https:': 443,
  'http:': 80,
  'postgres:': 5_432,
  'postgresql:': 5_432,
  'redis:': 6_379,
  'rediss:': 6_379,
  'amqp:': 5_672,
  'amqps:': 5_671,
  'nats:': 4_222,
  'tls:': 4_222,
  'kafka:': 9_092,
  'kafkas:': 9_093,
  'smtp:': 587,
  'smtps:': 465,
}

/** TLS from the first byte. The others start in plain text, and `encryption` decides whether they switch to TLS. */
const ENCRYPTED: ReadonlySet<string> = new Set(['https:', 'rediss:', 'amqps:', 'tls:', 'kafkas:', 'smtps:'])

/** The place that a URL names. `path` starts with a slash, or is empty. */
export type Address = {
  readonly protocol: string
  readonly host: string
  readonly port: number
  readonly path: string
}

/** The parts of a URL that passed `urlFault`. */
export function addressOf(text: string): Address {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 443) : Number(url.port)
  return { protocol: url.protocol, host, port, path: url.pathname }
}

/** Whether everything that goes to the destination is encrypted. */
export function isEncrypted(config: DestinationConfig, url: string): boolean {
  const protocol = /^[a-z]+:/i.exec(url)?.[0].toLowerCase() ?? ''
  return ENCRYPTED.has(protocol) || ('encryption' in config && config.encryption === 'verify')
}

/** The reason why this is not a URL of this kind, or undefined. The guard judges its host: see `guardedUrl`. */
export function urlFault(config: DestinationConfig, text: string): string | undefined {
  const { protocols } = KINDS[config.kind]
  const url = URL.parse(text)
  const names = protocols.map((protocol) => `${protocol}//`).join(' or ')
  if (url === null || !protocols.includes(url.protocol))
    return `A destination of the kind ${config.kind} needs a URL that starts with ${names}; send one.`
  if (url.hostname === '') return 'The URL has no host; send one with a host and a port.'
  if (url.username !== '' || url.password !== '')
    return 'The URL must not contain a user name or password; send them in auth.'
  if (takesRequests(config)) return undefined
  if (url.search !== '' || url.hash !== '') return 'The URL must not have a query or a fragment; leave them out.'
  return pathFault(config.kind, url.pathname)
}

function pathFault(kind: DestinationKind, path: string): string | undefined {
  const segments = path.split('/').filter((segment) => segment !== '')
  if (kind === 'postgres')
    return segments.length === 1
      ? undefined
      : 'The URL must name the database as its path, such as postgres://host/events.'
  if (kind === 'redis_stream')
    return segments.length === 0 || /^\/\d{1,3}$/.test(path)
      ? undefined
      : 'The path of the URL can only be a database number, such as /0.'
  if (kind === 'sqs')
    return segments.length > 0
      ? undefined
      : 'The URL must be the URL of the queue, such as https://sqs.eu-central-1.amazonaws.com/123456789012/events.'
  if (kind === 'amqp')
    return segments.length <= 1
      ? undefined
      : 'The path of the URL can only be the name of a vhost; write a slash in it as %2F.'
  return segments.length === 0 ? undefined : 'The URL must not have a path; leave it out.'
}

/** The URL for the guard: https means encrypted, and http means plain text, which only OUTBOUND_ALLOW permits. */
export function guardedUrl(config: DestinationConfig, text: string): string {
  if (KINDS[config.kind].isHttp) return text
  const { host, port } = addressOf(text)
  const name = host.includes(':') ? `[${host}]` : host
  return `${isEncrypted(config, text) ? 'https' : 'http'}://${name}:${port}/`
}

/** The guard knows only http and https, so its sentence about plain http gets the words of the kind. */
export function guardSentence(config: DestinationConfig, sentence: string): string {
  if (KINDS[config.kind].isHttp) return sentence
  return sentence.replace(
    /Plain http is not allowed to this address; use https\./,
    'An unencrypted connection is not allowed to this address; use TLS.',
  )
}

/** The setting of a destination whose HTTP requests have several events. */
export type RequestBatch = { readonly max: number; readonly linger_ms: number }

export const batchOf = (config: DestinationConfig): RequestBatch | undefined =>
  config.kind === 'http' ? config.batch : undefined

/** The most concurrent sends of a new destination. Batches are useful only with many events in each. */
export function defaultMaxInFlight(config: DestinationConfig): number {
  const max = batchOf(config)?.max ?? (config.kind === 's3' ? 1 : undefined)
  return max === undefined ? LIMITS.maxInFlightDefault : Math.max(max, LIMITS.maxInFlightOfBatches)
}
