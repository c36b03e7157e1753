/** Bytes of a file: from the first byte inside to the first byte outside. */
export type ByteRange = { readonly from: number; readonly to: number }

const ONE = /^bytes=(\d*)-(\d*)$/i

/**
 * The range that a `Range` header requests of a file with this many bytes (RFC 9110 §14). `whole`: there is no header, it is
 * not a range of bytes, or it is a list of ranges, which a server need not honor. `outside`: it starts after the end.
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | 'whole' | 'outside' {
  const found = header === undefined ? null : ONE.exec(header.trim())
  const [, first = '', last = ''] = found ?? []
  if (first !== '') return between(Number(first), { last: last === '' ? Infinity : Number(last), bytes })
  return last === '' ? 'whole' : lastOf(Number(last), bytes)
}

function between(from: number, { last, bytes }: { last: number; bytes: number }): ByteRange | 'whole' | 'outside' {
  if (last < from) return 'whole'
  return from >= bytes ? 'outside' : { from, to: Math.min(bytes, last + 1) }
}

function lastOf(count: number, bytes: number): ByteRange | 'outside' {
  return count === 0 || bytes === 0 ? 'outside' : { from: Math.max(0, bytes - count), to: bytes }
}
