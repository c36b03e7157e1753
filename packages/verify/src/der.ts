/** The part of DER (X.690) that public keys, certificates and ECDSA signatures need. */

export type Node = {
  readonly tag: number
  /** The content. */
  readonly bytes: Uint8Array
  /** The whole element, with its tag and length. */
  readonly whole: Uint8Array
}

export const SEQUENCE = 0x30
export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OBJECT_ID = 0x06
const NULL = 0x05

/** The element at the start of these bytes; undefined when they are no DER. */
export function readNode(bytes: Uint8Array, start = 0): Node | undefined {
  const [tag, first] = [bytes[start], bytes[start + 1]]
  if (tag === undefined || first === undefined) return undefined
  const more = first < 0x80 ? 0 : first & 0x7f
  if (first >= 0x80 && (more === 0 || more > 3)) return undefined
  let length = more === 0 ? first : 0
  for (let at = 0; at < more; at += 1) length = length * 256 + (bytes[start + 2 + at] ?? 0)
  const from = start + 2 + more
  if (from + length > bytes.length) return undefined
  return { tag, bytes: bytes.subarray(from, from + length), whole: bytes.subarray(start, from + length) }
}

/** The elements inside of these bytes; empty when a part of them is no DER. */
export function readNodes(bytes: Uint8Array): readonly Node[] {
  const nodes: Node[] = []
  let at = 0
  while (at < bytes.length) {
    const node = readNode(bytes, at)
    if (node === undefined) return []
    nodes.push(node)
    at += node.whole.length
  }
  return nodes
}

/** An element of its tag and the parts of its content. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Uint8Array.from([tag, ...size, ...parts.flatMap((part) => [...part])])
}

export const derNull = der(NULL)
/** A bit string without unused bits. */
export const bitString = (bytes: Uint8Array): Uint8Array => der(BIT_STRING, Uint8Array.of(0), bytes)

/** A positive whole number; its first bit must not be set. */
export function derInteger(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first < 0 ? Uint8Array.of(0) : bytes.subarray(first)
  return (digits[0] ?? 0) >= 0x80 ? der(INTEGER, Uint8Array.of(0), digits) : der(INTEGER, digits)
}

/** The bytes of a positive whole number, without a zero before them. */
export function integerIn(node: Node | undefined): Uint8Array | undefined {
  const first = node?.bytes[0]
  if (node?.tag !== INTEGER || first === undefined || first >= 0x80) return undefined
  return first === 0 ? node.bytes.subarray(1) : node.bytes
}
