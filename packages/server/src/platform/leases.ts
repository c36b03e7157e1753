import type { Clock } from './clock.ts'
import { sql, type Database, type Db } from './db.ts'

/** The background loops that this process runs for the whole installation. */
export type Leases = {
  /** Takes or renews the lease, so that it outlasts the next pause of `everyMs`. False: another living process has it. */
  take(name: string, everyMs: number): Promise<boolean>
  /** Gives every lease back, so that another process need not wait until it expires. */
  release(): Promise<void>
}

/** A process counts as dead when its next run is this late. */
const LATE_MS_MAX = 15_000
/** A lease is renewed when less than this remains of it beyond the next pause. */
const SPARE_MS = 5_000

/** For a single process: it runs everything, and needs no lease. */
export const EVERY_LEASE: Leases = { take: () => Promise.resolve(true), release: () => Promise.resolve() }

/** For a single process that another one takes over from: it needs leases only while both serve. */
export function leasesWhile(isBeside: () => boolean, leases: Leases): Leases {
  return {
    take: (name, everyMs) => (isBeside() ? leases : EVERY_LEASE).take(name, everyMs),
    release: () => leases.release(),
  }
}

/** Leases are rows. The database's clock decides, so that processes with different clocks agree. */
export function createLeases(deps: { readonly database: Database; readonly clock: Clock }, owner: string): Leases {
  const held = new Map<string, number>()
  return {
    take: async (name, everyMs) => {
      const now = deps.clock.now()
      if ((held.get(name) ?? 0) >= now + everyMs + SPARE_MS) return true
      const until = now + everyMs + LATE_MS_MAX
      const taken = await take(deps.database, { name, owner, now: new Date(now), until: new Date(until) })
      if (taken) held.set(name, until)
      else held.delete(name)
      return taken
    },
    release: async () => {
      if (held.size > 0) await deps.database.run(sql`delete from loop_leases where owner = ${owner}`)
      held.clear()
    },
  }
}

async function take(db: Db, at: { name: string; owner: string; now: Date; until: Date }): Promise<boolean> {
  const changed = await db.run(sql`
    insert into loop_leases as l (name, owner, lease_until)
    values (${at.name}, ${at.owner}, ${at.until})
        on conflict (name) do update
       set owner = excluded.owner,
           lease_until = excluded.lease_until
     where l.owner = excluded.owner
        or l.lease_until <= ${at.now}
  `)
  return changed > 0
}

/** For the server that has just locked a data folder: all earlier holders of leases are dead. */
export function endEveryLease(db: Db): Promise<number> {
  return db.run(sql`delete from loop_leases`)
}
