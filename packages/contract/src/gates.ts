import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { storable } from './list.ts'

/** The checks of the sender: IP addresses, browser origins, and the handshake that proves who controls an endpoint. */

const addressError = 'An entry is an IPv4 or IPv6 address, or a CIDR range such as 203.0.113.0/24.'

export const IpAllowlist = z
  .array(
    z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], addressError),
    'The allowlist is a list of addresses and CIDR ranges.',
  )
  .max(LIMITS.ipAllowlistEntriesMax, `An allowlist has at most ${LIMITS.ipAllowlistEntriesMax} entries.`)
  .describe(
    'IPv4 and IPv6 addresses and CIDR ranges; empty: any address. A list that is not empty refuses a sender whose address is unknown.',
  )

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+\/?$/i

/** An origin in the form that browsers send: lower case, without a slash at the end and without a default port. */
function asBrowsersWriteIt(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  return origin === 'null' ? text.toLowerCase().replace(/\/$/, '') : origin
}

const Origin = storable(z.string('An origin is text such as https://shop.example.'))
  .max(LIMITS.originCharsMax, `An origin has at most ${LIMITS.originCharsMax} characters.`)
  .regex(
    ORIGIN,
    'An origin is a scheme, a host and optionally a port, such as https://shop.example; no path, and no "*".',
  )
  .refine(
    (text) => !text.includes('*'),
    'An origin is one scheme and host, such as https://shop.example. To let every origin post, set cors to null.',
  )
  .overwrite(asBrowsersWriteIt)

export const Cors = z
  .strictObject({
    origins: z
      .array(Origin, 'The origins are a list such as ["https://shop.example"].')
      .max(LIMITS.corsOriginsMax, `There are at most ${LIMITS.corsOriginsMax} origins.`),
  })
  .nullable()
  .describe(
    'The origins whose pages may post from a browser; null: any. Requests without an Origin header, such as those of servers, are not affected.',
  )
export type Cors = z.infer<typeof Cors>

export const HANDSHAKE_KINDS = [
  'none',
  'hub_challenge',
  'url_verification',
  'sns_subscription',
  'discord_ping',
  'zoom_validation',
  'twitch_challenge',
] as const
export type HandshakeKind = (typeof HANDSHAKE_KINDS)[number]

export const VerifyToken = z
  .string('Send a verify token: text that the sender repeats.')
  .min(1, 'The verify token may not be empty.')
  .max(LIMITS.verifyTokenCharsMax, `A verify token has at most ${LIMITS.verifyTokenCharsMax} characters.`)
  .describe('Write-only; never returned.')

function kindOf<const Kind extends HandshakeKind, Fields extends z.ZodRawShape>(kind: Kind, fields: Fields) {
  return z.strictObject({ kind: z.literal(kind), ...fields })
}

const kindError = `The kind is one of ${HANDSHAKE_KINDS.join(', ')}.`
const meaning =
  'How a provider checks that you control the endpoint. `hub_challenge`: Postroad answers a GET with hub.mode, hub.verify_token and hub.challenge with ' +
  'the challenge. `url_verification`: Postroad answers a POST of {"type":"url_verification","challenge":…} with the challenge, after the signature check; ' +
  'if a verify token is set, `token` must equal it. The others have no verify token, and Postroad answers them after the signature check too. ' +
  '`sns_subscription`: Postroad confirms the subscription of an Amazon SNS topic by its SubscribeURL. `discord_ping`: the PING of interactions and of ' +
  'webhook events. `zoom_validation`: endpoint.url_validation, signed with the verification secret. `twitch_challenge`: webhook_callback_verification of EventSub.'

/** The kinds without a verify token. */
const TOKENLESS = [
  kindOf('none', {}),
  kindOf('sns_subscription', {}),
  kindOf('discord_ping', {}),
  kindOf('zoom_validation', {}),
  kindOf('twitch_challenge', {}),
] as const

export const HandshakeCreate = z
  .discriminatedUnion(
    'kind',
    [
      ...TOKENLESS,
      kindOf('hub_challenge', { verify_token: VerifyToken }),
      kindOf('url_verification', { verify_token: VerifyToken.optional() }),
    ],
    { error: kindError },
  )
  .describe(meaning)
export type HandshakeCreate = z.infer<typeof HandshakeCreate>

/** A change. If it leaves the verify token out, the stored one is retained while the kind stays the same. */
export const HandshakePatch = z
  .discriminatedUnion(
    'kind',
    [
      ...TOKENLESS,
      kindOf('hub_challenge', { verify_token: VerifyToken.optional() }),
      kindOf('url_verification', { verify_token: VerifyToken.optional() }),
    ],
    { error: kindError },
  )
  .describe(meaning)
export type HandshakePatch = z.infer<typeof HandshakePatch>

export const Handshake = z.object({
  kind: z.enum(HANDSHAKE_KINDS),
  has_verify_token: z.boolean().optional().describe('Absent when the kind is none.'),
})
