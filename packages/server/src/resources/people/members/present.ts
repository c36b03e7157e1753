import { encodeId } from '@postroad/contract'
import type { MemberRow } from './queries.ts'

export function presentMember({ id, name, email, role, joined_at }: MemberRow) {
  return { id: encodeId('user', id), name, email, role, joined_at: joined_at.toISOString() }
}
