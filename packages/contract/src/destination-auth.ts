import { z } from 'zod'
import { headerName } from './header-name.ts'
import { LIMITS } from './limits.ts'
import { Text, Timestamp } from './list.ts'

/** How Postroad reaches a destination beyond its URL: the credentials, the TLS settings and the proxy. */

const { destinationSecretCharsMax, pemCharsMax } = LIMITS

const secret = (what: string) =>
  z
    .string()
    .min(1)
    .max(destinationSecretCharsMax)
    .optional()
    .describe(`${what} Stored encrypted and never shown. Leave it out of a change to keep the stored one.`)
const word = (pattern: RegExp, rule: string) => z.string().max(destinationSecretCharsMax).regex(pattern, rule)

const UserName = word(/^[^:\p{Cc}]+$/u, 'must be a user name without a colon').max(255)
const Token = secret('The token.').refine(
  (token) => token === undefined || /^[\x21-\x7e]+$/.test(token),
  'may contain only printable ASCII characters without spaces',
)
const HeaderValue = secret('The value.').refine(
  (value) => value === undefined || /^[\x20-\x7e]+$/.test(value),
  'may contain only printable ASCII characters',
)
const Url = Text.min(1).max(2_048)
const CLIENT_AUTHS = ['basic', 'body'] as const

export const AUTH_KINDS = [
  'none',
  'basic',
  'bearer',
  'header',
  'oauth2_client_credentials',
  'payload',
  'aws',
  'google',
] as const
export type AuthKind = (typeof AUTH_KINDS)[number]

/** The credentials that every delivery carries. A secret is required when its kind is first set. */
export const DestinationAuth = z
  .discriminatedUnion(
    'kind',
    [
      z.strictObject({ kind: z.literal('none') }),
      z.strictObject({ kind: z.literal('basic'), username: UserName, password: secret('The password.') }),
      z.strictObject({ kind: z.literal('bearer'), token: Token }),
      z.strictObject({
        kind: z.literal('header'),
        header: headerName('X-Api-Key').describe('The name of the header.'),
        value: HeaderValue,
      }),
      z.strictObject({
        kind: z.literal('oauth2_client_credentials'),
        token_url: Url.describe('The token endpoint of the authorization server.'),
        client_id: Text.min(1).max(512),
        client_secret: secret('The client secret.'),
        scope: Text.max(1_024).optional().describe('Scopes, separated by spaces.'),
        audience: Text.max(1_024).optional().describe('Sent as `audience` to authorization servers that require it.'),
        client_auth: z
          .enum(CLIENT_AUTHS)
          .default('basic')
          .describe('How the client id and secret are sent: in the Authorization header or in the body.'),
      }),
      z.strictObject({
        kind: z.literal('payload'),
        secret: secret(
          'A key for receivers that expect it in the body. The payload template inserts it as {{ secret }}.',
        ),
      }),
      z.strictObject({
        kind: z.literal('aws'),
        access_key_id: word(/^[\x21-\x7e]+$/, 'must be an access key id')
          .min(1)
          .max(128),
        secret_access_key: secret('The secret access key. For destinations of the kinds s3, sqs and sns.'),
      }),
      z.strictObject({
        kind: z.literal('google'),
        client_email: Text.max(320)
          .regex(/^[^\s@]+@[^\s@]+$/, 'must be the email address of a service account')
          .describe('The `client_email` of the JSON key of a service account.'),
        private_key: secret('The `private_key` of the JSON key. For destinations of the kind pubsub.'),
      }),
    ],
    { error: `The kind is one of ${AUTH_KINDS.join(', ')}.` },
  )
  .describe(
    'How Postroad authenticates to the destination. Postroad stores an OAuth 2 access token and renews it before it expires, and once after a 401.',
  )
export type DestinationAuth = z.output<typeof DestinationAuth>

/** The form in responses: the settings, and whether a secret is stored. */
export const ShownAuth = z.object({
  kind: z.enum(AUTH_KINDS),
  username: z.string().optional(),
  header: z.string().optional(),
  access_key_id: z.string().optional(),
  client_email: z.string().optional(),
  token_url: z.string().optional(),
  client_id: z.string().optional(),
  scope: z.string().optional(),
  audience: z.string().optional(),
  client_auth: z.enum(CLIENT_AUTHS).optional(),
  has_secret: z.boolean().optional().describe('Absent when the kind is none.'),
})

const Pem = Text.min(1).max(pemCharsMax)

/** Mutual TLS is separate from `auth`, because a receiver may require both a client certificate and a token. */
export const DestinationTls = z
  .strictObject({
    certificate: Pem.optional().describe('The client certificate in PEM, optionally followed by its intermediates.'),
    private_key: Pem.optional().describe(
      'Its private key in PEM, without a passphrase. Stored encrypted and never shown. Leave it out of a change to keep the stored one.',
    ),
    ca: Pem.optional().describe(
      'Certificate authorities in PEM that are trusted for this destination in addition to the public ones.',
    ),
  })
  .nullable()
  .describe(
    'A client certificate for mutual TLS and custom certificate authorities; null: neither. Requires an https URL. Requests to the token endpoint use them too.',
  )
export type DestinationTls = z.output<typeof DestinationTls>

const ShownCertificate = z.object({ subject: z.string(), issuer: z.string(), expires_at: Timestamp })

export const ShownTls = z
  .object({
    certificate: ShownCertificate.nullable(),
    has_private_key: z.boolean(),
    ca: z.array(ShownCertificate),
  })
  .nullable()

export const DestinationProxy = z
  .strictObject({
    url: Url.describe('http:// or https://, a host, and a port.'),
    username: UserName.optional(),
    password: secret('The password.'),
  })
  .nullable()
  .describe(
    'A forward proxy (HTTP CONNECT) for connections to the destination and to the token endpoint; null: none. ' +
      'Postroad resolves and checks the address of the destination itself and asks the proxy to connect to that address.',
  )
export type DestinationProxy = z.output<typeof DestinationProxy>

export const ShownProxy = z
  .object({ url: z.string(), username: z.string().optional(), has_password: z.boolean() })
  .nullable()
