import { encodeId } from '@postroad/contract'
import { hex } from '../../../domain/workspace/audit-chain.ts'
import type { AuditRow } from './queries.ts'

/** Row → public shape. */
export function presentRow(row: AuditRow) {
  const { at, actor, agent, action, target, ip } = row
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `audit` wrote it from an object
  const details = JSON.parse(row.details) as Record<string, unknown>
  return {
    id: encodeId('audit', row.id),
    at: at.toISOString(),
    actor,
    agent,
    action,
    target,
    ip,
    details,
    prev_hash: hex(row.prev_hash),
    hash: hex(row.hash),
  }
}
