import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { storable } from './list.ts'

/** The checks of the sender: IP addresses and browser origins. */

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
