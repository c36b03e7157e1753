import { processOf } from '../../../../domain/delivery/fair-share.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'

/**
 * The facts about the other owners that an owner learns with its own lease. They come from the rows of the owners
 * alone: each owner counts its own lanes.
 */
export type OthersRow = {
  readonly others: number
  readonly others_lanes: number
  /** Every other owner left free lanes in its last sweep. */
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

/** An owner is one start of a process. Its lease covers every lane that names it. */

/**
 * Extends the owner's lease under a new serial. `dead`: the lease has expired and is not revived. `old`: a later call has
 * overtaken this one.
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

/**
 * Updates the row for the other owners: they may look for lanes before this owner next reports its count, and they must know
 * whether it left any.
 */
export function countLanes(db: Db, at: { owner: string; lanes: number; left: boolean }): Promise<number> {
  return db.run(sql`
    update lane_owners
       set lanes = ${at.lanes},
           left_lanes = left_lanes or ${at.left}
     where owner = ${at.owner}
  `)
}

/** Returns undefined when the lease has expired. */
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

/** Ends the owner's lease, which frees all its lanes. Also deletes owners whose lease ended a day ago. */
export function endOwner(db: Db, at: { owner: string; now: Date }): Promise<number> {
  return db.run(sql`
    delete from lane_owners
     where owner = ${at.owner}
        or lease_until < ${new Date(at.now.getTime() - 86_400_000)}
  `)
}

/** Ends every lease. Only for a server that has just started with exclusive use of its database. */
export function endEveryOwner(db: Db): Promise<number> {
  return db.run(sql`
    delete from lane_owners
  `)
}
