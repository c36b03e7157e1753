import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { EMPTY_CHAIN, hashOf, hex, idAfter, type Anchor, type Link } from '../../../domain/workspace/audit-chain.ts'
import { shownChange, type Change } from '../../../domain/workspace/audit-change.ts'
import { anchorAt, openAnchor, sealAnchor } from './anchor.ts'
import { appendRow, findEnds, lockAnchor } from './queries.ts'

export type AuditEntry = {
  /** `verb_noun`, as the contract names them: `create_api_key`. */
  readonly action: string
  /** The public id of the changed resource. */
  readonly target?: string
  /** The details for a reader; never a secret, a slug or a payload. */
  readonly details?: Readonly<Record<string, unknown>>
  /** The resource before and after, as responses show it. The row shows the members that differ, without credentials. */
  readonly change?: Change
}

/**
 * Writes the audit row of a change inside its transaction, with the hash of the previous row. The end of a chain stays locked until the
 * commit, so `inTransaction` writes these rows last, workspace by workspace.
 */
export async function audit(tx: Ctx, entry: AuditEntry): Promise<void> {
  const link: Link = {
    id: tx.uuid(),
    at: new Date(tx.clock.now()),
    ...actorNames(tx),
    action: entry.action,
    target: entry.target ?? null,
    ip: tx.ip ?? null,
    details: JSON.stringify({ ...entry.details, ...(entry.change && shownChange(entry.change)) }),
  }
  const write = (): Promise<void> => append(tx, link)
  if (tx.beforeCommit === undefined) await write()
  else tx.beforeCommit(tx.workspaceId, write)
}

/** The anchor defines the previous row, not the table, so rows that were cut off stay missing. */
async function append(tx: Ctx, of: Link): Promise<void> {
  const { workspaceId, cipher } = tx
  const anchor = await heldAnchor(tx, of)
  const link = { ...of, id: idAfter(anchor.head?.id, of.id) }
  const prevHash = anchor.head === null ? null : Buffer.from(anchor.head.hash, 'hex')
  const hash = hashOf(link, prevHash)
  const next: Anchor = { ...anchor, count: anchor.count + 1, head: { id: link.id, hash: hex(hash) } }
  await appendRow(tx.db, {
    ...link,
    prev_hash: prevHash,
    hash,
    workspaceId,
    sealed: sealAnchor(cipher, next, workspaceId),
  })
}

/** A lost anchor stops no work: the chain continues from its newest row, and the new anchor records the loss. */
async function heldAnchor(tx: Ctx, next: Link): Promise<Anchor> {
  const { db, workspaceId, cipher } = tx
  const sealed = await lockAnchor(db, workspaceId)
  const anchor = sealed === null ? undefined : openAnchor(cipher, sealed, workspaceId)
  if (anchor !== undefined) return anchor
  const ends = await findEnds(db, workspaceId)
  if (ends === undefined && sealed === null) return EMPTY_CHAIN
  tx.log.error('audit.anchor_lost', { workspace_id: encodeId('workspace', workspaceId) })
  if (ends === undefined) return { ...EMPTY_CHAIN, lost_before: next.id }
  return { ...anchorAt(ends), lost_before: idAfter(ends.id, next.id) }
}

/** The actor and the agent, in the form of audit rows and versions. */
export function actorNames({ actor }: Ctx): { actor: string; agent: string | null } {
  switch (actor.kind) {
    case 'person':
      return { actor: encodeId('user', actor.userId), agent: null }
    case 'api_key':
      return { actor: encodeId('user', actor.userId), agent: `api_key:${encodeId('apiKey', actor.keyId)}` }
    case 'agent':
      return { actor: encodeId('user', actor.userId), agent: `agent:${encodeId('connectedAgent', actor.agentId)}` }
    case 'operator':
      return { actor: encodeId('user', actor.userId), agent: 'operator' }
    case 'customer':
      return { actor: encodeId('customer', actor.customerId), agent: null }
    case 'system':
      return { actor: 'system', agent: null }
  }
}
