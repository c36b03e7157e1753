import { processOf } from '../../../../domain/delivery/fair-share.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'

/** What an owner learns of the others with its own lease, from their rows alone: lanes are counted by who holds them. */
export type OthersRow = {
  readonly others: number
  readonly others_lanes: number
  /** Each of them has left free lanes in its last sweep. */
  readonly all_left: boolean
}

const others = (owner: string, now: Date): Sql => sql`
              (select count(*)::int
                 from lane_owners o
                where split_part(o.owner, '/', 1) <> ${processOf(owner)}
                  and o.lease_until > ${now}) as others,
              (select coalesce(sum(o.lanes), 0)::int
                 from lane_owners o
                where split_part(o.owner, '/', 1) <> ${processOf(owner)}
                  and o.lease_until > ${now}) as others_lanes,
              (select coalesce(bool_and(o.left_lanes), false)
                 from lane_owners o
                where split_part(o.owner, '/', 1) <> ${processOf(owner)}
                  and o.lease_until > ${now}) as all_left`

/** An owner is one start of a process; its lease holds every lane that names it. */

/**
 * Extends the owner's lease under a new serial. `dead`: the lease has run out and is not revived; `old`: this call was
 * overtaken by a later one.
 */
export async function extendOwner(
  db: Db,
  at: { owner: string; serial: number; lanes: number; sweeps: boolean; now: Date; leaseUntil: Date },
): Promise<OthersRow | 'dead' | 'old'> {
  const held = await db.maybe<{ dead: boolean; old: boolean }>(sql`
    select lease_until <= ${at.now} as dead, serial >= ${at.serial} as old
      from lane_owners
     where owner = ${at.owner}
       for update
  `)
  if (held?.dead === true) return 'dead'
  if (held?.old === true) return 'old'
  return db.one<OthersRow>(sql`
    insert into lane_owners (owner, lease_until, serial, lanes)
    values (${at.owner}, ${at.leaseUntil}, ${at.serial}, ${at.lanes})
    on conflict (owner) do update
       set lease_until = excluded.lease_until,
           serial = excluded.serial,
           lanes = excluded.lanes,
           left_lanes = lane_owners.left_lanes and not ${at.sweeps}
    returning ${others(at.owner, at.now)}
  `)
}

/** For the others, who may look for lanes before this owner says how many it holds, and who must know whether it has left any. */
export function countLanes(db: Db, at: { owner: string; lanes: number; left: boolean }): Promise<number> {
  return db.run(sql`
    update lane_owners
       set lanes = ${at.lanes},
           left_lanes = left_lanes or ${at.left}
     where owner = ${at.owner}
  `)
}

/** undefined when the lease has run out. */
export function renewOwner(
  db: Db,
  at: { owner: string; lanes: number; now: Date; leaseUntil: Date },
): Promise<OthersRow | undefined> {
  return db.maybe<OthersRow>(sql`
    update lane_owners
       set lease_until = ${at.leaseUntil},
           lanes = ${at.lanes}
     where owner = ${at.owner}
       and lease_until > ${at.now}
    returning ${others(at.owner, at.now)}
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
