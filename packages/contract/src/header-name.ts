import { z } from 'zod'
import { LIMITS } from './limits.ts'

/** A token (RFC 9110), which is the form of a header name on the wire. Stored names can be any token. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

/** A token without the characters that a shell or a program interprets, because people copy these names into commands. */
const PLAIN_TOKEN = /^[A-Za-z0-9!#%&*+.^_~-]+$/

/** The name of a header as stored and shown. */
export const heldHeaderName = (example: string) => named(example).regex(TOKEN, sentence(example))

/** The name of a header that is being configured. */
export const headerName = (example: string) =>
  named(example).regex(
    PLAIN_TOKEN,
    `The header is the name of a request header, such as ${example}. Use letters, digits and hyphens; quotes, backticks, "$", "|" and spaces are not allowed.`,
  )

const sentence = (example: string) => `The header is the name of a request header, such as ${example}.`

const named = (example: string) =>
  z
    .string(sentence(example))
    .max(LIMITS.headerNameCharsMax, `A header name has at most ${LIMITS.headerNameCharsMax} characters.`)
