import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import type { Cipher } from '../platform/cipher.ts'

/**
 * The services that an event has passed, as `Service-Chain` carries them: one link for each endpoint or ingest key,
 * oldest first. A link is a digest under a key of this installation, so only this installation can read or make one,
 * and another passes it on.
 */
export const CHAIN_HEADER = DELIVERY_HEADERS.chain.toLowerCase()

const PURPOSE = 'event-chain'
const LINK = /^[A-Za-z0-9_-]{16}$/
const LINK_BYTES = 12

/** The links of the header, each once. Text that is not a link is ignored, as with the hops. */
export function readChain(header: string | undefined): readonly string[] {
  if (header === undefined) return []
  const links = header.split(',').map((item) => item.trim())
  return [...new Set(links.filter((link) => LINK.test(link)))].slice(0, LIMITS.hopsMax)
}

/** Whether the event has passed this endpoint or ingest key. A link made under a previous SECRET_KEY also counts. */
export function hasPassed(cipher: Cipher, { chain, id }: { chain: readonly string[]; id: string }): boolean {
  return cipher.subkeys(PURPOSE).some(({ key }) => chain.includes(linkUnder(createSecretKey(key), id)))
}

/** Makes the header of a delivery: the services that the event had passed, and the one that accepted it. */
export type NextChain = (event: { readonly chain: string | null; readonly id: string }) => string

/** Makes headers under the key that is newest now. It computes the link of each endpoint once. */
export function chainUnder(cipher: Cipher): NextChain {
  const key = createSecretKey(cipher.subkeys(PURPOSE)[0].key)
  const links = new Map<string, string>()
  return ({ chain, id }) => {
    const link = links.get(id) ?? linkUnder(key, id)
    links.set(id, link)
    return chain === null ? link : `${chain}, ${link}`
  }
}

/** With the key as bytes, Node takes five times as long as with a key object. */
function linkUnder(key: KeyObject, id: string): string {
  return createHmac('sha256', key).update(id).digest().subarray(0, LINK_BYTES).toString('base64url')
}
