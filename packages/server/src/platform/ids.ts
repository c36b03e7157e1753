import { createHash, randomBytes, randomFillSync } from 'node:crypto'

export { randomBytes }

const POOL_BYTES = 8_192
const pool = Buffer.alloc(POOL_BYTES)
let used = POOL_BYTES

function take(bytes: number): Buffer {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.subarray(used - bytes, used)
}

/**
 * Creates a source of UUIDv7s for times in milliseconds. They sort by time, and those of one source rise strictly (the 12 bits
 * after the version count ids of the same millisecond).
 */
export function createUuidv7(): (ms: number) => string {
  let lastMs = 0
  let sequence = 0
  return (ms) => {
    const whole = Math.floor(ms)
    if (whole > lastMs) {
      lastMs = whole
      sequence = take(1).readUInt8(0)
    } else {
      sequence += 1
      if (sequence > 0xfff) {
        lastMs += 1
        sequence = 0
      }
    }
    const time = lastMs.toString(16).padStart(12, '0')
    const tail = take(8)
    tail[0] = (tail.readUInt8(0) & 0x3f) | 0x80
    const rest = tail.toString('hex')
    const counter = sequence.toString(16).padStart(3, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${rest.slice(0, 4)}-${rest.slice(4)}`
  }
}

/**
 * Ids for a thread, in ascending order: after every id that its process made before `first`, and before every later one. Each
 * has the time of `first`, which itself is not used.
 */
export function uuidsFrom(first: string): () => string {
  const prefix = first.slice(0, 'tttttttt-tttt-7sss-'.length)
  let count = 0
  return () => {
    const tail = Buffer.concat([COUNT_BYTES, take(5)])
    tail.writeUIntBE(0x80_00_00 + count, 0, COUNT_BYTES.length)
    count += 1
    const rest = tail.toString('hex')
    return `${prefix}${rest.slice(0, 4)}-${rest.slice(4)}`
  }
}

const COUNT_BYTES = Buffer.alloc(3)

/** The UUIDv7 of a time and a name. Every process makes the same id from them. */
export function uuidv7Named(ms: number, name: string): string {
  const digest = createHash('sha256').update(name).digest()
  digest[0] = (digest.readUInt8(0) & 0x0f) | 0x70
  digest[2] = (digest.readUInt8(2) & 0x3f) | 0x80
  const rest = digest.toString('hex', 0, 10)
  return `${uuidv7Floor(ms).slice(0, 13)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`
}

/** The id of a content: 128 bits of its SHA-256. */
export function uuidOf(content: string): string {
  return uuidOfDigest(createHash('sha256').update(content).digest('hex'))
}

/** The same, from the digest in hex. */
export function uuidOfDigest(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

/** The smallest UUIDv7 of a time: the bound of a partition or of a time filter. */
export function uuidv7Floor(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** The time of a UUIDv7, in milliseconds. */
export function uuidv7Ms(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `count` characters of base62 from the system's random source, without bias. 43 characters are 256 bits. */
export function randomText(count: number): string {
  let text = ''
  while (text.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < 248 && text.length < count) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}
