import { encodeId } from '@postroad/contract'
import { presentFilter } from './filter.ts'
import type { ReplayRow } from './queries.ts'

/** Row → public shape. */
export const presentReplay = ({ delivered, failed, cancelled, unknown, ...row }: ReplayRow) => ({
  ...row,
  outcome: {
    delivered,
    failed,
    cancelled,
    under_way: row.replayed - delivered - failed - cancelled - unknown,
    unknown,
  },
  id: encodeId('replay', row.id),
  filter: presentFilter(row.filter),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
})
