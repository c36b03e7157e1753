import { LIMITS } from '@postroad/contract'
import { maskCredentials } from './mask-credentials.ts'

const DOTS = '•••'
/** Words in the name of a member whose value can be a credential, or a number that nobody may store. */
const SECRET_WORD =
  /(?:^|-)(?:authorization|auth|cookie|token|secret|password|passwd|pwd|credentials?|api-?key|access-?key|private-?key|session|pin|cvv|cvc|card-?number|iban|ssn)(?:-|$)/

const JSON_MEMBER = /("((?:[^"\\]|\\.){1,64})"\s*:\s*)("(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s,{}[\]"]+)/g
const FORM_MEMBER = /(^|&)([^=&\s{["]{1,64})=([^&\r\n]*)/g
const MULTIPART_MEMBER = /(\bname="([^"\r\n]{1,64})"[^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\n)([^\r\n]*)/g

/** The start of a body with the values of secrets masked; undefined when it is not text. */
export function redactedStart(body: Buffer, credential: string): string | undefined {
  const text = startOf(body)
  if (text === undefined) return undefined
  const masked = maskCredentials(text, credential)
    .replaceAll(JSON_MEMBER, (whole: string, head: string, name: string) =>
      isSecret(name) ? `${head}"${DOTS}"` : whole,
    )
    .replaceAll(MULTIPART_MEMBER, (whole: string, head: string, name: string) => (isSecret(name) ? head + DOTS : whole))
  return masked.replaceAll(FORM_MEMBER, (whole: string, before: string, name: string) =>
    isSecret(name) ? `${before}${name}=${DOTS}` : whole,
  )
}

/** The first 4 KiB as text, without a character that the limit cuts in two. */
function startOf(body: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body.subarray(0, LIMITS.refusedSampleBodyBytesMax), {
      stream: true,
    })
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** `cardNumber`, `card_number` and `card-number` are one name. */
function isSecret(name: string): boolean {
  return SECRET_WORD.test(
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
      .replaceAll(/[^A-Za-z0-9]+/g, '-')
      .toLowerCase(),
  )
}
