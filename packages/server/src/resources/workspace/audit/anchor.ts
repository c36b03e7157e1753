import { z } from 'zod'
import { EMPTY_CHAIN, hex, type Anchor } from '../../../domain/workspace/audit-chain.ts'
import { secretPlace } from '../../secret-place.ts'
import type { Cipher } from '../../../platform/cipher.ts'
import type { Ends } from './queries.ts'

/** Sealed, so that only the owner of the SECRET_KEY can state the end of a chain, and bound to its workspace. */

const Sealed = z.object({
  count: z.int(),
  removed: z.int(),
  tail: z.string().nullable(),
  head: z.object({ id: z.string(), hash: z.string() }).nullable(),
  lost_before: z.string().nullable(),
})

export function sealAnchor(cipher: Cipher, anchor: Anchor, workspaceId: string): Buffer {
  return cipher.seal(JSON.stringify(anchor), place(workspaceId))
}

/** Undefined when it was not sealed by this installation for this workspace. */
export function openAnchor(cipher: Cipher, sealed: Uint8Array, workspaceId: string): Anchor | undefined {
  try {
    return Sealed.parse(JSON.parse(cipher.open(sealed, place(workspaceId)).reveal()))
  } catch {
    return undefined
  }
}

/** The anchor of a chain without one, computed from its rows. */
export function anchorAt({ count, tail, id, hash }: Ends): Anchor {
  return { ...EMPTY_CHAIN, count, tail: hex(tail), head: { id, hash: hex(hash) } }
}

const place = (workspaceId: string): string => secretPlace('audit_anchors.sealed', workspaceId)
