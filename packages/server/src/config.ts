import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { decodeId, LIMITS } from '@postroad/contract'
import { httpProxyUrl } from '@postroad/contract/environment-proxy'
import { z } from 'zod'
import { Secret } from './platform/secret.ts'

/** All settings of the environment, in one place. `docs/operate/configure.md` is written from this list. */
export const SETTINGS = {
  PORT: setting(
    'The TCP port of every surface.',
    '4680',
    z.coerce.number().int().min(0).max(65_535),
    'a port number, 0 to 65535',
  ),
  HOST: setting(
    'The address to listen on. `0.0.0.0` or `::` opens it to other machines.',
    '127.0.0.1',
    z.string().min(1),
    'an address',
  ),
  PUBLIC_URL: setting(
    'The address people and senders use, when it is not `http://HOST:PORT` (behind a proxy, for example).',
    undefined,
    z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, '')),
    'an http or https URL',
  ),
  DATA_DIR: setting(
    'The folder of the embedded database and its key.',
    './data',
    z
      .string()
      .min(1)
      .transform((path) => resolve(path)),
    'a folder',
  ),
  DATABASE_URL: setting(
    'Your own PostgreSQL (15 or newer). Absent: an embedded one in `DATA_DIR`.',
    undefined,
    z
      .string()
      .regex(/^postgres(ql)?:\/\/\S+$/)
      .transform((url) => new Secret(url)),
    'a URL such as postgres://user:password@host:5432/database',
  ),
  SECRET_KEY: setting(
    'Encrypts secrets in the database: 32 bytes in base64 (`openssl rand -base64 32`). With the embedded database, the server creates it once, in `DATA_DIR/secret-key`.',
    undefined,
    key(),
    '32 bytes in base64',
  ),
  SECRET_KEY_PREVIOUS: setting(
    'An additional key that only opens sealed values: the previous key, while `postroad rotate-key` replaces it ([how](rotate-key.md)).',
    undefined,
    key(),
    '32 bytes in base64',
  ),
  ROLES: setting(
    'The roles of this process: `web` serves requests, `deliver` sends deliveries, and `work` runs background work.',
    'web,deliver,work',
    list(z.enum(['web', 'deliver', 'work'])).refine((roles) => roles.length > 0),
    'any of web,deliver,work',
  ),
  PROCESSES: setting(
    'The number of processes that share the port. They start and stop together.',
    String(Math.max(1, Math.floor(availableParallelism() / 2))),
    z.coerce.number().int().min(1).max(256),
    'a whole number from 1 to 256',
  ),
  HEAVY_THREADS: setting(
    'The most threads per process for work that takes long: large bodies, searches, tables, dry runs, templates and exports. A thread starts when there is work for it. A workspace has at most two of them, and never all.',
    String(Math.max(3, availableParallelism())),
    z.coerce.number().int().min(2).max(256),
    'a whole number from 2 to 256',
  ),
  TRUST_PROXY: setting(
    'Proxies whose `X-Forwarded-For` is trusted, as addresses or CIDR ranges. Empty: the header is ignored.',
    '',
    list(cidr()),
    'a comma-separated list such as 10.0.0.0/8,::1',
  ),
  OUTBOUND_ALLOW: setting(
    'Address ranges outside the public internet that deliveries can reach. Set but empty: none. Absent: none, except loopback when the server runs on your machine: with the embedded database, a loopback `HOST`, and a `PUBLIC_URL` that is absent or loopback.',
    undefined,
    list(cidr()),
    'a comma-separated list such as 10.0.0.0/8',
  ),
  HTTPS_PROXY: setting(
    'The forward proxy for sources and WebSocket triggers with `https` or `wss` URLs; a password may be in its URL. Postroad still resolves and checks the address, and asks the proxy for that address. The proxy itself may have any address. Deliveries use the `proxy` of their destination. The name in lower case works too.',
    undefined,
    proxyUrl(),
    'the URL of an HTTP proxy, such as http://proxy.example.com:3128',
  ),
  HTTP_PROXY: setting(
    'The same for `http` and `ws` URLs.',
    undefined,
    proxyUrl(),
    'the URL of an HTTP proxy, such as http://proxy.example.com:3128',
  ),
  NO_PROXY: setting(
    'Hosts that are reached without these proxies: names with their subdomains, addresses, IPv4 ranges, each with or without a port, or `*`. Loopback always is.',
    undefined,
    z.string(),
    'a comma-separated list such as internal.example.com,10.0.0.0/8',
  ),
  PORTAL_OUTBOUND_ALLOW: setting(
    'Address ranges outside the public internet that customer destinations can reach. Customers manage these in a [portal](../guides/portals.md). `OUTBOUND_ALLOW` does not apply to them. Absent or empty: none.',
    '',
    list(cidr()),
    'a comma-separated list such as 10.0.0.0/8',
  ),
  SMTP_URL: setting(
    'The mail server, with user and password if it needs them. Absent: the server writes each email to a file in `outbox` in `DATA_DIR`.',
    undefined,
    z
      .string()
      .regex(/^smtps?:\/\/\S+$/)
      .refine((url) => URL.canParse(url))
      .transform((url) => new Secret(url)),
    'a URL such as smtp://user:password@mail.example.com:587, or smtps://… for TLS from the first byte',
  ),
  MAIL_FROM: setting(
    'The sender address of emails. Required with `SMTP_URL`.',
    undefined,
    z.string().regex(/^(?:[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>|[^\s@<>]+@[^\s@<>]+)$/),
    'an address such as postroad@example.com or Postroad <postroad@example.com>',
  ),
  OIDC_ISSUER: setting(
    'An OpenID Connect provider for sign-in. Register `PUBLIC_URL/admin/api/session/oidc/callback` there as the redirect URI.',
    undefined,
    z.url({ protocol: /^https?$/ }).refine(isPrivateOrTls),
    'an https URL; http only for this machine',
  ),
  OIDC_CLIENT_ID: setting(
    'The client ID at the provider. Required with `OIDC_ISSUER`.',
    undefined,
    z.string().min(1),
    'a client id',
  ),
  OIDC_CLIENT_SECRET: setting(
    'The client secret at the provider. Required with `OIDC_ISSUER`.',
    undefined,
    z
      .string()
      .min(1)
      .transform((text) => new Secret(text)),
    'a client secret',
  ),
  OIDC_ALLOWED_DOMAINS: setting(
    'Email domains whose accounts can sign in through the provider. Empty: everyone who has an account here.',
    '',
    list(
      z
        .string()
        .regex(/^[a-zA-Z0-9.-]+\.[a-zA-Z0-9-]+$/)
        .transform((domain) => domain.toLowerCase()),
    ),
    'a comma-separated list such as example.com,example.org',
  ),
  OPERATORS: setting(
    'Email addresses of the people who operate the installation: they suspend workspaces and change plans. Absent: the owner, while one person owns every workspace ([more](operators.md)).',
    undefined,
    list(
      z
        .string()
        .regex(/^[^\s@,]+@[^\s@,]+$/)
        .transform((address) => address.toLowerCase()),
    ),
    'a comma-separated list such as ada@example.com,grace@example.com',
  ),
  AGENT_WORK: setting(
    'The proof of work for an agent registration, in PBKDF2 iterations, while few agents have registered in a day. The work grows as the daily limit fills. Operators set the limit with `PATCH platform/settings`.',
    String(LIMITS.agentWorkDefault),
    z.coerce.number().int().min(1).max(LIMITS.agentWorkMax),
    `a whole number up to ${LIMITS.agentWorkMax}`,
  ),
  INGEST_BODY_BYTES: setting(
    'The largest body that ingest accepts, in bytes.',
    String(LIMITS.ingestBodyBytesDefault),
    z.coerce.number().int().min(1).max(LIMITS.ingestBodyBytesMax),
    `a number of bytes up to ${LIMITS.ingestBodyBytesMax}`,
  ),
  CONNECTIONS_MAX: setting(
    'The maximum number of open connections per process. Further connections are closed immediately without a response. `/metrics` counts them as `postroad_connections_dropped`. The last tenth is for ingest and health: other requests get 503 `overloaded`. Keep it below the file limit of the process (`ulimit -n`).',
    '10000',
    z.coerce.number().int().min(1).max(1_000_000),
    'a number of connections, 1 to 1000000',
  ),
  ADMIN_REQUESTS_MAX: setting(
    'The maximum number of admin API requests per credential in 10 seconds, per process. 0: no limit.',
    String(LIMITS.adminRequestsMax),
    z.coerce.number().int().min(0).max(1_000_000),
    'a number of requests, 0 to 1000000',
  ),
  UPGRADE_URL: setting(
    'The page where people change their plan. Plan-limit errors return it as `upgrade_url`. Absent: the page Billing of the console.',
    undefined,
    z.url({ protocol: /^https?$/ }),
    'an http or https URL',
  ),
  STRIPE_SECRET_KEY: setting(
    'The secret key of your Stripe account. Turns on payments. Without it, no prices are shown ([how](billing.md)).',
    undefined,
    z
      .string()
      .regex(/^\S+$/)
      .transform((text) => new Secret(text)),
    'a secret key such as sk_live_…',
  ),
  STRIPE_PRICES: setting(
    'The plans of `plans.json` that people can buy, each with the id of its recurring price at Stripe; required with `STRIPE_SECRET_KEY`.',
    undefined,
    list(z.string().regex(/^[a-z0-9_-]+=\S+$/))
      .refine((pairs) => pairs.length > 0)
      .transform((pairs) =>
        Object.fromEntries(pairs.map((pair) => [pair.replace(/=.*/, ''), pair.replace(/^[^=]*=/, '')])),
      ),
    'a comma-separated list such as team=price_123,business=price_456',
  ),
  STRIPE_WEBHOOK_ENDPOINT: setting(
    'The id of the endpoint on this server that receives the events of Stripe; required with `STRIPE_SECRET_KEY`.',
    undefined,
    z
      .string()
      .transform((id) => decodeId('webhook', id))
      .pipe(z.string()),
    'the id of an endpoint, such as whk_…',
  ),
  STRIPE_API_URL: setting(
    'The URL of the Stripe API, or of a compatible server. The rules for deliveries apply: outside the public internet it must be in `OUTBOUND_ALLOW`.',
    'https://api.stripe.com',
    z.url({ protocol: /^https?$/ }).refine(isPrivateOrTls),
    'an https URL; http only for this machine',
  ),
  METRICS_TOKEN: setting(
    'Lets `/metrics` be read from other machines with `Authorization: Bearer`. Absent: only on the machine itself, at `localhost` and not through a proxy.',
    undefined,
    z
      .string()
      .min(16)
      .transform((text) => new Secret(text)),
    'at least 16 characters',
  ),
  LOG_LEVEL: setting(
    'The log level.',
    'info',
    z.enum(['debug', 'info', 'warn', 'error', 'silent']),
    'debug, info, warn, error or silent',
  ),
  LOG_FORMAT: setting(
    '`text` for people, `json` for machines. Absent: text at a terminal.',
    undefined,
    z.enum(['text', 'json']),
    'text or json',
  ),
} as const

type Settings = typeof SETTINGS
type Read<S> =
  S extends Setting<infer Value, infer Default> ? (Default extends string ? Value : Value | undefined) : never

export type Config = Readonly<{ [Name in keyof Settings]: Read<Settings[Name]> }>

type Setting<Value, Default extends string | undefined> = {
  readonly doc: string
  readonly fallback: Default
  readonly schema: z.ZodType<Value>
  readonly allowed: string
}

/** These are or may contain secrets, so their values are never shown. */
const HOLDS_SECRET = /SECRET|TOKEN|DATABASE_URL|SMTP_URL|HTTPS?_PROXY/

/** Settings where an empty value means none, unlike an absent one. */
const EMPTY_MEANS_NONE: ReadonlySet<string> = new Set(['OUTBOUND_ALLOW'])

function textOf(environment: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const lower = /^(?:HTTPS?|NO)_PROXY$/.test(name) ? environment[name.toLowerCase()] : undefined
  const text = lower === undefined || lower.trim() === '' ? environment[name] : lower
  return text?.trim() === '' && !EMPTY_MEANS_NONE.has(name) ? undefined : text
}

/** A wrong setting stops the start with one line: its name, its value and the allowed values. */
export class ConfigError extends Error {}

/** Reads the environment once. Only `main.ts` knows `process.env`. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const entries = Object.entries(SETTINGS).map(([name, { fallback, schema, allowed }]) => {
    const given = textOf(environment, name) ?? fallback
    if (given === undefined) return [name, undefined]
    const read = schema.safeParse(given)
    if (read.success) return [name, read.data]
    const shown = HOLDS_SECRET.test(name) ? 'something else' : JSON.stringify(given)
    throw new ConfigError(`${name} must be ${allowed}, but it is ${shown}.`)
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made from SETTINGS, name by name
  const config = Object.fromEntries(entries) as Config
  if (config.DATABASE_URL !== undefined && config.SECRET_KEY === undefined) {
    throw new ConfigError(
      'DATABASE_URL is set, so SECRET_KEY must be too: 32 bytes in base64, the same on every node (openssl rand -base64 32).',
    )
  }
  requireTogether(config)
  return Object.freeze(config)
}

/** Settings that have no use without another one. */
function requireTogether(config: Config): void {
  if (
    config.STRIPE_SECRET_KEY !== undefined &&
    (config.STRIPE_PRICES === undefined || config.STRIPE_WEBHOOK_ENDPOINT === undefined)
  ) {
    throw new ConfigError(
      'STRIPE_SECRET_KEY is set, so STRIPE_PRICES and STRIPE_WEBHOOK_ENDPOINT must be too: the plans that people can buy, and the endpoint that receives the events of Stripe.',
    )
  }
  if (config.SMTP_URL !== undefined && config.MAIL_FROM === undefined) {
    throw new ConfigError(
      'SMTP_URL is set, so MAIL_FROM must be too: the sender address of emails, such as postroad@example.com.',
    )
  }
  if (
    config.OIDC_ISSUER !== undefined &&
    (config.OIDC_CLIENT_ID === undefined || config.OIDC_CLIENT_SECRET === undefined)
  ) {
    throw new ConfigError(
      'OIDC_ISSUER is set, so OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be too: the provider shows both where the client is registered.',
    )
  }
}

function isPrivateOrTls(url: string): boolean {
  return new URL(url).protocol === 'https:' || isLoopback(url)
}

/** Whether a URL leads to this machine. `URL` normalizes every form of an address. */
function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(url)?.hostname ?? '')
}

/** Whether the server is a single process, so that it need not notify or wait for others. */
export function isAlone(config: Config): boolean {
  return config.DATABASE_URL === undefined && config.PROCESSES === 1
}

/** The address in links: `PUBLIC_URL`, or the address on which the server listens. */
export function publicUrl(config: Config, port: number): string {
  const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? 'localhost' : config.HOST
  return config.PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * The ranges beyond the public internet that deliveries may reach. Loopback is the default only if nobody else can reach the
 * server.
 */
export function outboundAllow(config: Config): readonly string[] {
  if (config.OUTBOUND_ALLOW !== undefined) return config.OUTBOUND_ALLOW
  const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST
  const isLocal = isLoopback(`http://${host}`) && isLoopback(config.PUBLIC_URL ?? 'http://localhost')
  return config.DATABASE_URL === undefined && isLocal ? ['127.0.0.0/8', '::1/128'] : []
}

/** The reach of the destinations of customers. A customer is not trusted with the network of the operator (docs/adr/0201). */
export function customersReach(config: Config): { readonly allow: readonly string[]; readonly setting: string } {
  return { allow: config.PORTAL_OUTBOUND_ALLOW, setting: 'PORTAL_OUTBOUND_ALLOW' }
}

function setting<Value, const Default extends string | undefined>(
  ...[doc, fallback, schema, allowed]: [doc: string, fallback: Default, schema: z.ZodType<Value>, allowed: string]
): Setting<Value, Default> {
  return { doc, fallback, schema, allowed }
}

function proxyUrl() {
  return z
    .string()
    .refine((text) => httpProxyUrl(text.trim()) !== undefined)
    .transform((text) => new Secret(text.trim()))
}

function key() {
  return z
    .string()
    .refine((text) => Buffer.from(text, 'base64').length === 32)
    .transform((text) => new Secret(text))
}

function list<Value>(item: z.ZodType<Value, string>) {
  return z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item))
}

function cidr() {
  return z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])
}
