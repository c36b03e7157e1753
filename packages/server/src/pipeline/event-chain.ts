import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import type { Cipher } from '../platform/cipher.ts'

/**
 * Whom an event has passed, as `Service-Chain` carries it: one link for each endpoint or ingest key, the oldest first. A link
 * is a digest under a key of this installation, so that nobody else learns or makes one, and another installation passes it on.
 */
export const CHAIN_HEADER = DELIVERY_HEADERS.chain.toLowerCase()

const PURPOSE = 'event-chain'
const LINK = /^[A-Za-z0-9_-]{16}$/
const LINK_BYTES = 12

/** The links of the header, each once. What is no link counts nothing, as with the hops. */
export function readChain(header: string | undefined): readonly string[] {
  if (header === undefined) return []
  const links = header.split(',').map((item) => item.trim())
  return [...new Set(links.filter((link) => LINK.test(link)))].slice(0, LIMITS.hopsMax)
}

/** Whether the event has passed this endpoint or ingest key; a link that was made under a former SECRET_KEY says so too. */
export function hasPassed(cipher: Cipher, { chain, id }: { chain: readonly string[]; id: string }): boolean {
  return cipher.subkeys(PURPOSE).some(({ key }) => chain.includes(linkUnder(createSecretKey(key), id)))
}

/** The header of a delivery: where the event had been before, and where it was accepted. */
export type NextChain = (event: { readonly chain: string | null; readonly id: string }) => string

/** Makes headers under the newest key of this moment. It computes the link of each endpoint once. */
export function chainUnder(cipher: Cipher): NextChain {
  const key = createSecretKey(cipher.subkeys(PURPOSE)[0].key)
  const links = new Map<string, string>()
  return ({ chain, id }) => {
    const link = links.get(id) ?? linkUnder(key, id)
    links.set(id, link)
    return chain === null ? link : `${chain}, ${link}`
  }
}

/** Node takes five times as long with the key as bytes as with a key object. */
function linkUnder(key: KeyObject, id: string): string {
  return createHmac('sha256', key).update(id).digest().subarray(0, LINK_BYTES).toString('base64url')
}
