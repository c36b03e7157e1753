import { createHash } from 'node:crypto'
import type { Misfit } from '@postroad/contract'

/** An audit row as it is stored; `details` is the text that was hashed. */
export type Link = {
  readonly id: string
  readonly at: Date
  readonly actor: string
  readonly agent: string | null
  readonly action: string
  readonly target: string | null
  readonly ip: string | null
  readonly details: string
}

export type StoredLink = Link & { readonly prev_hash: Uint8Array | null; readonly hash: Uint8Array }

/** The known ends of a chain besides its rows: where it starts after retention removed rows, and where it ends. */
export type Anchor = {
  /** Rows ever written, and how many of them retention removed. */
  readonly count: number
  readonly removed: number
  /** The hash of the last removed row, in hexadecimal digits; null: no row was removed. */
  readonly tail: string | null
  readonly head: { readonly id: string; readonly hash: string } | null
  /** The first row after the loss of an anchor. */
  readonly lost_before: string | null
}

export const EMPTY_CHAIN: Anchor = { count: 0, removed: 0, tail: null, head: null, lost_before: null }

/** SHA-256 over the hash of the previous row, then the row as the text of a JSON list. */
export function hashOf(link: Link, prevHash: Uint8Array | null): Buffer {
  const said = [link.id, link.at.toISOString(), link.actor, link.agent, link.action, link.target, link.ip, link.details]
  return createHash('sha256')
    .update(prevHash ?? '')
    .update(JSON.stringify(said))
    .digest()
}

/** Whether a row is as it was written, and continues the row whose hash is `before` (hexadecimal digits; null: no row). */
export function misfitOf(row: StoredLink, before: string | null): Extract<Misfit, 'changed' | 'missing'> | undefined {
  if (hex(hashOf(row, row.prev_hash)) !== hex(row.hash)) return 'changed'
  return hex(row.prev_hash) === before ? undefined : 'missing'
}

export function hex(hash: Uint8Array): string
export function hex(hash: Uint8Array | null): string | null
export function hex(hash: Uint8Array | null): string | null {
  return hash === null ? null : Buffer.from(hash).toString('hex')
}

/** The chain is in the order of ids: a row from a node whose clock is behind must not come before the row that it continues. */
export function idAfter(last: string | undefined, id: string): string {
  if (last === undefined || id > last) return id
  const digits = (BigInt(`0x${last.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    '-',
  )
}
