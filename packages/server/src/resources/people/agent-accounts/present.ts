import { encodeId } from '@postroad/contract'
import type { AgentAccountRow } from './queries.ts'

export function presentAccount(row: AgentAccountRow) {
  return {
    id: encodeId('agentAccount', row.id),
    name: row.name,
    operator_contact: row.operator_contact,
    terms_version: row.terms_version,
    created_at: row.created_at.toISOString(),
    claimed_at: row.claimed_at?.toISOString() ?? null,
  }
}
