import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { EMPTY_CHAIN, hashOf, hex, idAfter, type Anchor, type Link } from '../../../domain/workspace/audit-chain.ts'
import { anchorAt, openAnchor, sealAnchor } from './anchor.ts'
import { appendRow, findEnds, holdAnchor } from './queries.ts'

export type AuditEntry = {
  /** `verb_noun`, as the contract names them: `create_api_key`. */
  readonly action: string
  /** The public id of what was changed. */
  readonly target?: string
  /** What a reader needs; never a secret, a slug or a payload. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * Writes the audit row of a change inside its transaction, each with the hash of the one before. The end of a chain is
 * locked from there to the commit, so it is the last thing that `inTransaction` does, workspace by workspace.
 */
export async function audit(tx: Ctx, entry: AuditEntry): Promise<void> {
  const link: Link = {
    id: tx.uuid(),
    at: new Date(tx.clock.now()),
    ...actorNames(tx),
    action: entry.action,
    target: entry.target ?? null,
    ip: tx.ip ?? null,
    details: JSON.stringify(entry.details ?? {}),
  }
  const write = (): Promise<void> => append(tx, link)
  if (tx.beforeCommit === undefined) await write()
  else tx.beforeCommit(tx.workspaceId, write)
}

/** What goes before is what the anchor says, not what the table holds: rows that were cut off stay missing. */
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

/** A lost anchor stops nobody's work: the chain goes on from its newest row, and says from then on that it was lost. */
async function heldAnchor(tx: Ctx, next: Link): Promise<Anchor> {
  const { db, workspaceId, cipher } = tx
  const sealed = await holdAnchor(db, workspaceId)
  const anchor = sealed === null ? undefined : openAnchor(cipher, sealed, workspaceId)
  if (anchor !== undefined) return anchor
  const ends = await findEnds(db, workspaceId)
  if (ends === undefined && sealed === null) return EMPTY_CHAIN
  tx.log.error('audit.anchor_lost', { workspace_id: encodeId('workspace', workspaceId) })
  if (ends === undefined) return { ...EMPTY_CHAIN, lost_before: next.id }
  return { ...anchorAt(ends), lost_before: idAfter(ends.id, next.id) }
}

/** Who acts, and through what: as audit rows and versions say it. */
export function actorNames({ actor }: Ctx): { actor: string; agent: string | null } {
  switch (actor.kind) {
    case 'person':
      return { actor: encodeId('user', actor.userId), agent: null }
    case 'api_key':
      return { actor: encodeId('user', actor.userId), agent: `api_key:${encodeId('apiKey', actor.keyId)}` }
    case 'agent':
      return { actor: encodeId('user', actor.userId), agent: actor.agentId }
    case 'system':
      return { actor: 'system', agent: null }
  }
}
