import type { VerificationSettings } from './settings.ts'
import { bytesOf } from '#crypto'
import type { HmacAlgorithm, DigestEncoding } from './crypto.ts'
import type { Reading, Recipe } from './reading.ts'
import { inEachSpelling, readSignedContent, type Called } from './signed-content.ts'

export type CustomHmacSettings = Extract<VerificationSettings, { scheme: 'custom_hmac' }>

/** An HMAC over the content that the settings describe. A signed URL counts in each spelling that senders use. */
export function readCustomHmac(called: Called, settings: CustomHmacSettings): Reading {
  return inEachSpelling(called, { settings, read: (one) => readOne(one, settings) })
}

function readOne(called: Called, settings: CustomHmacSettings): Reading {
  const { algorithm, encoding, key_encoding } = settings
  const { contentOf, given, ...read } = readSignedContent(called, settings, WELL_FORMED[algorithm][encoding])
  const recipe: Recipe = {
    prefix: '',
    algorithm,
    encoding,
    ...(key_encoding === 'text' ? {} : { keyOf: (secret: string) => keyIn(secret, key_encoding) }),
    ...(contentOf === undefined ? {} : { contentOf }),
  }
  // base64url has no padding; a sender that adds it means the same.
  return { ...read, given: encoding === 'base64url' ? given.map((text) => text.replace(/=+$/, '')) : given, recipe }
}

const KEY_FORMS = { base64: /^[A-Za-z0-9+/_-]+={0,2}$/, hex: /^(?:[0-9a-fA-F]{2})+$/ } as const

/** Whether a secret has the form of a key. */
export function isKeyIn(secret: string, encoding: keyof typeof KEY_FORMS): boolean {
  return KEY_FORMS[encoding].test(secret)
}

/** The bytes behind a secret, as a whole or not at all: a part of it would be a key short enough to be guessed. */
function keyIn(secret: string, encoding: keyof typeof KEY_FORMS): Uint8Array | string {
  return isKeyIn(secret, encoding) ? bytesOf(secret, encoding) : secret
}

const BYTES: Readonly<Record<HmacAlgorithm, number>> = { sha256: 32, sha1: 20, sha384: 48, sha512: 64 }

/** The form of a digest of so many bytes. */
function formOf(bytes: number): Readonly<Record<DigestEncoding, RegExp>> {
  const full = Math.ceil((bytes * 8) / 6)
  const padding = (3 - (bytes % 3)) % 3
  return {
    hex: new RegExp(`^[0-9a-fA-F]{${2 * bytes}}$`),
    base64: new RegExp(`^[A-Za-z0-9+/]{${full}}={${padding}}$`),
    base64url: new RegExp(`^[A-Za-z0-9_-]{${full}}={0,${padding}}$`),
  }
}

const WELL_FORMED = {
  sha256: formOf(BYTES.sha256),
  sha1: formOf(BYTES.sha1),
  sha384: formOf(BYTES.sha384),
  sha512: formOf(BYTES.sha512),
}
