import { isEqual, sha256 } from '#crypto'
import type { VerificationSettings } from './settings.ts'
import { malformed, missing, type Reading, type Recipe, type Signed } from './reading.ts'
import { valueIn } from './signed-content.ts'

export type StaticTokenSettings = Extract<VerificationSettings, { scheme: 'static_token' }>

const RECIPE: Recipe = {
  prefix: '',
  algorithm: 'sha256',
  encoding: 'hex',
  thing: 'token',
  accepts: (secret, { reading }) => reading.given.some((text) => isSame(text, secret)),
}

/** The secret itself in a header, behind a prefix. */
export function readStaticToken(headers: Signed['headers'], { header, prefix }: StaticTokenSettings): Reading {
  const value = valueIn(headers, header)
  const isFormed = value !== undefined && value.startsWith(prefix) && value.length > prefix.length
  const form = `${prefix}<token>`
  return {
    header,
    form,
    value,
    given: isFormed ? [value.slice(prefix.length)] : [],
    before: '',
    recipe: RECIPE,
    time: undefined,
    failure: value === undefined ? missing(header) : isFormed ? undefined : malformed(header, form),
  }
}

/** Compares hashes in constant time, so the duration of a refusal shows neither the secret nor its length. */
export function isSame(text: string, secret: string): boolean {
  return isEqual(hash(text), hash(secret))
}

function hash(content: string): string {
  return sha256({ content, encoding: 'hex' })
}
