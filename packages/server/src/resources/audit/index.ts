import { createHash } from 'node:crypto'
import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../context.ts'
import { insertAuditRow, lockChain } from './queries.ts'

export type AuditEntry = {
  /** `verb_noun`, as the contract names them: `create_api_key`. */
  readonly action: string
  /** The public id of what was changed. */
  readonly target?: string
  /** What a reader needs; never a secret, a slug or a payload. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Writes the audit row of a change inside its transaction; each row carries the hash of the one before. */
export async function audit(tx: Ctx, entry: AuditEntry): Promise<void> {
  const last = await lockChain(tx.db, tx.workspaceId)
  const prevHash = last?.hash ?? null
  const row = {
    workspaceId: tx.workspaceId,
    id: idAfter(last?.id, tx.uuid()),
    at: new Date(tx.clock.now()),
    ...actorNames(tx),
    action: entry.action,
    target: entry.target ?? null,
    ip: tx.ip ?? null,
    details: JSON.stringify(entry.details ?? {}),
  }
  const said = [row.id, row.at.toISOString(), row.actor, row.agent, row.action, row.target, row.ip, row.details]
  const hash = createHash('sha256').update(prevHash ?? '').update(JSON.stringify(said)).digest()
  await insertAuditRow(tx.db, { ...row, prevHash, hash })
}

/** The chain is in the order of ids: a node whose clock is behind must not slip in before the row that it continues. */
function idAfter(last: string | undefined, id: string): string {
  if (last === undefined || id > last) return id
  const hex = (BigInt(`0x${last.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
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
