import { openDatabase, sql, type DatabaseTarget, type Db } from './db.ts'

/**
 * Row-level security, the second wall between tenants (docs/adr/0026): a statement that is run for a workspace meets no row
 * of another one, also when it forgets to name the workspace.
 */

/** Who the server is in PostgreSQL: its login in the embedded one, and what a login becomes that policies do not hold for. */
export const SERVER_ROLE = 'postroad_server'

/** The column that says whose a row is; null for a table of the installation. */
const OWNER_COLUMN = `
  case when c.relname = 'workspaces' then 'id'
       when exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped) then 'workspace_id'
  end`

/**
 * Puts the policy on every tenant table that has none, partitions included: who asks a day's table itself meets no more
 * than who goes through the whole. Sub-selects are run once a statement, not once a row; a row that was changed meanwhile makes PostgreSQL run both of
 * them. Without the setting a row is nobody's.
 */
export const SECURE_TABLES = `
  do $$
  declare
    t record;
  begin
    for t in
      select c.oid::regclass as name, ${OWNER_COLUMN} as owner_column
        from pg_class c
       where c.relnamespace = current_schema()::regnamespace
         and c.relkind in ('r', 'p')
         and ${OWNER_COLUMN} is not null
         and not (c.relrowsecurity and c.relforcerowsecurity and exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'of_workspace'))
    loop
      execute format('alter table %s enable row level security, force row level security', t.name);
      if not exists (select from pg_policy p where p.polrelid = t.name and p.polname = 'of_workspace') then
        execute format($policy$
          create policy of_workspace on %s using (
            (select current_setting('postroad.workspace', true)) = 'every'
            or %I = (select nullif(nullif(current_setting('postroad.workspace', true), ''), 'every')::uuid)
          )
        $policy$, t.name, t.owner_column);
      end if;
    end loop;
  end
  $$`

/** Tenant tables and partitions that lack what `SECURE_TABLES` gives them, or have another policy beside. */
export async function findOpenTables(db: Db): Promise<readonly string[]> {
  const rows = await db.many<{ name: string }>({
    strings: [
      `select c.relname as name
         from pg_class c
        where c.relnamespace = current_schema()::regnamespace
          and c.relkind in ('r', 'p')
          and ${OWNER_COLUMN} is not null
          and not (c.relrowsecurity and c.relforcerowsecurity
                   and (select coalesce(array_agg(p.polname::text), '{}') from pg_policy p where p.polrelid = c.oid) = '{of_workspace}')
        order by c.relname`,
    ],
    values: [],
  })
  return rows.map((row) => row.name)
}

/** Why policies do not hold for this connection; undefined when they do. */
export async function whyUnbound(db: Db): Promise<string | undefined> {
  const { name, is_super, bypasses } = await db.one<{ name: string; is_super: boolean; bypasses: boolean }>(sql`
    select rolname as name, rolsuper as is_super, rolbypassrls as bypasses
      from pg_roles
     where rolname = current_user
  `)
  if (!is_super && !bypasses) return undefined
  return `The PostgreSQL user ${name} ${is_super ? 'is a superuser' : 'has BYPASSRLS'}, so row-level security does not apply to it.`
}

/** Held while the role is made, so that nodes starting together do it once. */
const ROLE_LOCK = 4_680_004

/**
 * The target as the server uses it. A login that policies do not hold for becomes a role that they hold for, made here with
 * the tables of the login; a login that may not make one stays what it is: `told` hears what stood in the way, and `whyUnbound` says that
 * policies do not hold.
 */
export async function bindToPolicies(target: DatabaseTarget, told: (cause: unknown) => void): Promise<DatabaseTarget> {
  const database = openDatabase({
    target,
    connectionsMax: 1,
    applicationName: 'postroad boot',
    statementTimeoutMs: 60_000,
  })
  try {
    if ((await whyUnbound(database)) === undefined) return target
    await database.transaction(makeServerRole)
    return { ...target, role: SERVER_ROLE }
  } catch (cause) {
    // Mostly a right that is missing; who has no right at all to be here learns of it at the next step.
    told(cause)
    return target
  } finally {
    await database.close()
  }
}

/** Makes the role with what it may do, and gives it the tables of the login; the rest of the transaction is run as it. */
export async function makeServerRole(db: Db): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(${ROLE_LOCK})`)
  // Databases of one cluster share the role, and do not see each other's lock.
  await db.run(
    statement(`
    do $$
    begin
      if not exists (select from pg_roles where rolname = '${SERVER_ROLE}') then
        create role ${SERVER_ROLE} nologin nosuperuser nobypassrls;
      end if;
    exception when duplicate_object or unique_violation then null;
    end
    $$`),
  )
  // The second: rotate-key asks which transactions are still open, those of its own login included.
  await db.run(
    statement(`
    do $$
    declare
      t record;
    begin
      if not has_schema_privilege('${SERVER_ROLE}', current_schema(), 'create') then
        execute format('grant usage, create on schema %I to ${SERVER_ROLE}', current_schema());
      end if;
      if not pg_has_role('${SERVER_ROLE}', 'pg_read_all_stats', 'usage') then
        grant pg_read_all_stats to ${SERVER_ROLE};
      end if;
      if not pg_has_role(current_user, '${SERVER_ROLE}', 'usage') then
        execute format('grant ${SERVER_ROLE} to %I', current_user);
      end if;
      for t in
        select c.oid::regclass as name
          from pg_class c
         where c.relnamespace = current_schema()::regnamespace
           and c.relkind in ('r', 'p')
           and c.relowner = (select oid from pg_roles where rolname = current_user)
      loop
        execute format('alter table %s owner to ${SERVER_ROLE}', t.name);
      end loop;
    end
    $$`),
  )
  // Membership alone does not always allow it.
  await db.run(statement(`set local role ${SERVER_ROLE}`))
}

const statement = (text: string) => ({ strings: [text], values: [] })
