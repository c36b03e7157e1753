import { LIMITS } from '@postroad/contract'
import type { SourceRow, StoredSlot } from './queries.ts'

const MIB = 1_048_576

/** The replication of a source as it is shown; null: it has none, or it was not checked yet. */
export function shownReplication(row: SourceRow, now: number) {
  const { slot } = row
  if (slot === null) return null
  return {
    slot: slot.name,
    wal_status: slot.wal_status,
    lag_bytes: slot.lag_bytes,
    retained_bytes: slot.retained_bytes,
    checked_at: slot.checked_at,
    warning: warningOf(row, { slot, now }) ?? null,
  }
}

/** Whether Postroad must email the owners and admins about the slot. */
export const retainsTooMuch = ({
  wal_status,
  retained_bytes,
}: Pick<StoredSlot, 'wal_status' | 'retained_bytes'>): boolean =>
  wal_status === 'unreserved' || wal_status === 'lost' || (retained_bytes ?? 0) >= LIMITS.sourceRetainedBytesWarn

type Of = Pick<SourceRow, 'enabled' | 'lease_until' | 'failing_since' | 'position' | 'settings'>

/** One sentence about the fault of a slot and its remedy; undefined: there is none. */
export function warningOf(row: Of, { slot, now }: { slot: StoredSlot; now: number }): string | undefined {
  const { name, wal_status: status } = slot
  if (status === 'lost')
    return `PostgreSQL has invalidated the replication slot ${name}, so changes are lost. Copy what you need from the tables, then send restart: true.`
  if (status === null)
    return row.position === null
      ? undefined
      : `The replication slot ${name} does not exist, so changes are lost. Copy what you need from the tables, then send restart: true.`
  const retained = `${Math.ceil((slot.retained_bytes ?? 0) / MIB)} MiB of WAL`
  if (!isRead(row, now))
    return `No process reads the replication slot ${name}. The source database retains ${retained} for it, and more with every change, until its disk is full. Make the source read again, or ${remedyOf(row)}.`
  if (status === 'unreserved')
    return `The replication slot ${name} may be lost soon, because it retains ${retained}. Raise max_slot_wal_keep_size, and check whether Postroad can store the events of the source.`
  if (retainsTooMuch(slot))
    return `The source database retains ${retained} for the replication slot ${name}. End transactions there that have been open for a long time, and check whether Postroad can store the events of the source.`
  return undefined
}

const remedyOf = ({ settings }: Of): string =>
  settings.kind === 'postgres_replication' && settings.slot !== null
    ? 'drop the slot there'
    : 'delete it, which drops the slot'

/** A source that waits for its next connection counts as read, because it will be within seconds. */
function isRead({ enabled, lease_until, failing_since }: Of, now: number): boolean {
  if (!enabled) return false
  return (lease_until !== null && lease_until.getTime() > now) || failing_since === null
}
