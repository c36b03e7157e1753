import { integerIn, readNode, readNodes, SEQUENCE } from './der.ts'

const BYTES = 32

/** r and s of a signature on P-256, of 32 bytes each. Senders write them so, or as DER. */
export function rawSignature(signature: Uint8Array): Uint8Array | undefined {
  const node = readNode(signature)
  if (node?.tag !== SEQUENCE || node.whole.length !== signature.length) return bare(signature)
  const [r, s, more] = readNodes(node.bytes)
  const [one, other] = [integerIn(r), integerIn(s)]
  if (one === undefined || other === undefined || more !== undefined) return bare(signature)
  if (one.length > BYTES || other.length > BYTES) return undefined
  const raw = new Uint8Array(2 * BYTES)
  raw.set(one, BYTES - one.length)
  raw.set(other, 2 * BYTES - other.length)
  return raw
}

const bare = (signature: Uint8Array): Uint8Array | undefined => (signature.length === 2 * BYTES ? signature : undefined)
