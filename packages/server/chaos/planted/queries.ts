import { sql, type Db } from '../../src/platform/db.ts'

/** Changes of the database that plant a defect. Each names its plant (../plants.ts). */

/** For the plant `count-apart`. */
export async function countOne(db: Db, at: { workspaceId: string }): Promise<void> {
  await db.run(sql`
    update monthly_usage
       set events = events + 1
     where workspace_id = ${at.workspaceId}
  `)
}

/** For the plants of rotation: the credential of a replaced URL expires immediately, or never. */
export async function misend(db: Db, ends: 'at_once' | 'never'): Promise<void> {
  const body =
    ends === 'at_once'
      ? "if tg_op = 'DELETE' then return old; end if; new.expires_at := clock_timestamp(); return new;"
      : "if tg_op = 'DELETE' then return null; end if; new.expires_at := null; return new;"
  await beforeEach(db, { name: 'misend', table: 'credentials', on: 'update or delete', body })
}

/** For the plant `no-reclaim`: dead owners count as alive forever. */
export async function keepOwners(db: Db): Promise<void> {
  await db.run(sql`
    create or replace rule keep_owners as
        on delete to lane_owners
        do instead nothing
  `)
}

/** For the plant `no-reclaim`. */
export async function extendOwners(db: Db): Promise<void> {
  await db.run(sql`
    update lane_owners
       set lease_until = 'infinity'
  `)
}

/** For the plant `no-fence`: takes lanes from their owners while they send. */
export async function takeLanes(db: Db): Promise<void> {
  await db.run(sql`
    update lanes
       set owner = null,
           fence = fence + 1
     where owner is not null
  `)
}

/** For the plant `suspend-in-name`: a suspension is acknowledged but not stored. */
export async function forgetSuspensions(db: Db): Promise<void> {
  await beforeEach(db, {
    name: 'forget_suspension',
    table: 'workspaces',
    on: 'update',
    body: 'new.suspended_at := null; return new;',
  })
}

/** For the plant `no-caps`. */
export async function liftCaps(db: Db): Promise<void> {
  await beforeEach(db, {
    name: 'lift_caps',
    table: 'destinations',
    on: 'insert',
    body: 'new.max_in_flight := 1000; new.rate_count := null; new.rate_per := null; return new;',
  })
}

/** For the plant `no-ramp`. */
export async function closeBreakers(db: Db): Promise<void> {
  await db.run(sql`
    update lanes
       set breaker_resets = breaker_resets + 1
     where memory is not null
  `)
}

/** For the plant `no-place`: once, after its first page, a replay restarts at its beginning. */
export async function forgetPlaces(db: Db): Promise<void> {
  // On a slow machine that page may be its only one.
  const body =
    "if old.replayed = 0 and new.replayed > 0 and new.state in ('running', 'done') then new.state := 'running'; new.ended_at := null; new.cursor := null; end if; return new;"
  await beforeEach(db, { name: 'forget_place', table: 'replays', on: 'update', body })
}

/** For the plant `deaf-replay`. */
export async function heedNoPause(db: Db): Promise<void> {
  const body =
    "if new.state in ('paused', 'cancelled') then new.state := 'running'; new.pause_reason := null; new.ended_at := null; end if; return new;"
  await beforeEach(db, { name: 'heed_no_pause', table: 'replays', on: 'update', body })
}

/** A trigger that runs `body` before each of these changes. */
export async function beforeEach(
  db: Db,
  { name, table, on, body }: { name: string; table: string; on: string; body: string },
): Promise<void> {
  await db.run({
    strings: [`create or replace function ${name}() returns trigger language plpgsql as $$ begin ${body} end $$`],
    values: [],
  })
  await db.run({
    strings: [`create or replace trigger ${name} before ${on} on ${table} for each row execute function ${name}()`],
    values: [],
  })
}

/** For the plant `position-apart`: events are stored, and one position in ten stays before them. */
export async function losePositions(db: Db): Promise<void> {
  const body = 'if new.events > old.events and random() < 0.1 then new.position := old.position; end if; return new;'
  await beforeEach(db, { name: 'lose_position', table: 'sources', on: 'update', body })
}

/** For the plant `start-apart`: the start of one instance in ten is missing from the commit of its record. */
export async function loseStarts(db: Db): Promise<void> {
  const body = 'if random() < 0.1 then return null; end if; return new;'
  await beforeEach(db, { name: 'lose_start', table: 'workflow_instances', on: 'insert', body })
}

/** For the plant `lost-wake`: the matcher continues, and one wait in ten does not learn of its record. */
export async function loseWakes(db: Db): Promise<void> {
  const body =
    'if old.wait_key is not null and new.wait_key is null and new.due_at < old.due_at and random() < 0.1 then return null; end if; return new;'
  await beforeEach(db, { name: 'lose_wake', table: 'workflow_instances', on: 'update', body })
}

/** For the plant `cursor-apart`: an event is stored, and one cursor in ten stays before the step that emitted it. */
export async function loseCursors(db: Db): Promise<void> {
  const body =
    "if old.state = 'running' and new.ended_at is not null and random() < 0.1 then new := old; new.lease_until := null; end if; return new;"
  await beforeEach(db, { name: 'lose_cursor', table: 'workflow_instances', on: 'update', body })
}
