import { sql, type Db } from '../../../platform/db.ts'

/** An owner is one start of a process; its lease holds every lane that names it. */

/**
 * Extends the owner's lease under a new serial. `dead`: the lease has run out and is not revived; `old`: this call was
 * overtaken by a later one.
 */
export async function extendOwner(
  db: Db,
  at: { owner: string; serial: number; now: Date; leaseUntil: Date },
): Promise<'alive' | 'dead' | 'old'> {
  const held = await db.maybe<{ dead: boolean; old: boolean }>(sql`
    select lease_until <= ${at.now} as dead, serial >= ${at.serial} as old
      from lane_owners
     where owner = ${at.owner}
       for update
  `)
  if (held?.dead === true) return 'dead'
  if (held?.old === true) return 'old'
  await db.run(sql`
    insert into lane_owners (owner, lease_until, serial)
    values (${at.owner}, ${at.leaseUntil}, ${at.serial})
    on conflict (owner) do update
       set lease_until = excluded.lease_until,
           serial = excluded.serial
  `)
  return 'alive'
}

/** How many rows: 0 when the lease has run out. */
export function renewOwner(db: Db, at: { owner: string; now: Date; leaseUntil: Date }): Promise<number> {
  return db.run(sql`
    update lane_owners
       set lease_until = ${at.leaseUntil}
     where owner = ${at.owner}
       and lease_until > ${at.now}
  `)
}

/** Ends the owner's lease, and with it the hold on every lane; forgets owners that died a day ago. */
export function endOwner(db: Db, at: { owner: string; now: Date }): Promise<number> {
  return db.run(sql`
    delete from lane_owners
     where owner = ${at.owner}
        or lease_until < ${new Date(at.now.getTime() - 86_400_000)}
  `)
}

/** Ends every lease: for the server that has just taken a database which nobody else can use. */
export function endEveryOwner(db: Db): Promise<number> {
  return db.run(sql`
    delete from lane_owners
  `)
}
