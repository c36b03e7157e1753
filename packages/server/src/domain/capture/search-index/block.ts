import { TERMS } from './terms.ts'
import type { Probe } from './probes.ts'

/** The most records of a block. */
export const BLOCK_RECORDS = 4_096
/** A block with more terms is closed early, so that it needs little memory. */
const BLOCK_TERMS_MAX = 4_194_304
/** About a quarter of the bits are set, so ten terms rule out all but about one in a million documents. */
const BITS_PER_TERM = 3.6
const SLICES_STEP = 64
const BYTE_BITS = 8
const BITS_OF_A_WORD = 32

/** A table of bits with a row for each group of terms and a column for each record. Documents without terms have every bit. */
export type Bits = { readonly slices: number; readonly stride: number; readonly bits: Uint8Array }

/** The row of a term. PostgreSQL computes the same (resources/capture/search-index/queries.ts). */
const sliceOf = (term: number, slices: number): number => (term * slices) >>> 16

/** The terms of a document; undefined: it is too large, so every search reads it. */
export type Terms = Uint16Array | undefined

/** Whether a block is full, which depends on the documents that it has. */
export class BlockFill {
  terms = 0
  #documents = 0

  add(terms: Terms): void {
    this.#documents += 1
    this.terms += terms?.length ?? 0
  }

  get full(): boolean {
    return this.#documents >= BLOCK_RECORDS || this.terms >= BLOCK_TERMS_MAX
  }
}

/** The block of consecutive records with these terms. */
export function blockOf(documents: readonly Terms[]): Bits {
  const count = documents.reduce((sum, terms) => sum + (terms?.length ?? 0), 0)
  const needed = Math.ceil((count * BITS_PER_TERM) / Math.max(1, documents.length) / SLICES_STEP) * SLICES_STEP
  const slices = Math.min(TERMS, Math.max(SLICES_STEP, needed))
  const stride = Math.ceil(documents.length / BYTE_BITS)
  const bits = Buffer.alloc(slices * stride)
  const every = Array.from({ length: slices }, (_none, slice) => slice)
  for (const [place, terms] of documents.entries()) {
    const byte = place >> 3
    const bit = 1 << (place & 7)
    const set = (slice: number): void => void (bits[slice * stride + byte] = (bits[slice * stride + byte] ?? 0) | bit)
    if (terms === undefined) every.forEach(set)
    else for (const term of terms) set(sliceOf(term, slices))
  }
  return { slices, stride, bits }
}

/**
 * The places of the records in a block that may match, the newest first. `rows` has the rows of all terms of the
 * probes, one after another.
 */
export function placesOf(
  probes: readonly Probe[],
  { records, stride, rows }: { readonly records: number; readonly stride: number; readonly rows: Uint8Array },
): readonly number[] {
  const [all, either, left] = [new Uint8Array(stride), new Uint8Array(stride), new Uint8Array(stride).fill(0xff)]
  let at = 0
  for (const { any } of probes) {
    either.fill(0)
    for (const terms of any) {
      all.fill(0xff)
      for (let count = terms.length; count > 0; count -= 1) {
        intersect(all, rows, at)
        at += stride
      }
      unite(either, all)
    }
    intersect(left, either, 0)
  }
  return setBits(left).filter((place) => place < records)
}

function intersect(into: Uint8Array, from: Uint8Array, at: number): void {
  for (let byte = 0; byte < into.length; byte += 1) into[byte] = (into[byte] ?? 0) & (from[at + byte] ?? 0)
}

function unite(into: Uint8Array, from: Uint8Array): void {
  for (let byte = 0; byte < into.length; byte += 1) into[byte] = (into[byte] ?? 0) | (from[byte] ?? 0)
}

/** The places of the bits that are set, the highest first. */
function setBits(row: Uint8Array): number[] {
  const places: number[] = []
  for (let byte = row.length - 1; byte >= 0; byte -= 1) {
    for (let bits = row[byte] ?? 0; bits !== 0;) {
      const bit = BITS_OF_A_WORD - 1 - Math.clz32(bits)
      places.push(byte * BYTE_BITS + bit)
      bits ^= 1 << bit
    }
  }
  return places
}
