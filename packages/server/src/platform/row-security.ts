import { openDatabase, sql, statement, type DatabaseTarget, type Db } from './db.ts'

/**
 * Row-level security, the second wall between tenants (docs/adr/0026): a statement that runs for a workspace sees no row of
 * another one, even if it forgets to name the workspace.
 */

/**
 * The server's role in PostgreSQL: its login in the embedded one, or the role that a login switches to when policies do not
 * apply to it.
 */
export const SERVER_ROLE = 'postroad_server'

/** The column with the workspace that owns a row; null for a table of the installation. */
const OWNER_COLUMN = `
  case when c.relname = 'workspaces' then 'id'
       when exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped) then 'workspace_id'
  end`

/**
 * Creates the policy on every tenant table that has none, including partitions: a direct query of a day's table must
 * not show more than a query of the whole table. A sub-select runs once per statement, not once per row; for a row that
 * was changed meanwhile, PostgreSQL runs both sub-selects. Without the setting, a row belongs to nobody.
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

/** Tenant tables and partitions that lack the policy of `SECURE_TABLES`, or have another policy as well. */
export async function findOpenTables(db: Db): Promise<readonly string[]> {
  const rows = await db.many<{ name: string }>(
    statement(`
    select c.relname as name
      from pg_class c
     where c.relnamespace = current_schema()::regnamespace
       and c.relkind in ('r', 'p')
       and ${OWNER_COLUMN} is not null
       and not (c.relrowsecurity and c.relforcerowsecurity
                and (select coalesce(array_agg(p.polname::text), '{}') from pg_policy p where p.polrelid = c.oid) = '{of_workspace}')
     order by c.relname`),
  )
  return rows.map((row) => row.name)
}

/** The reason why policies do not apply to this connection; undefined when they do. */
export async function validateRowSecurity(db: Db): Promise<string | undefined> {
  const { name, is_super, bypasses } = await db.one<{ name: string; is_super: boolean; bypasses: boolean }>(sql`
    select rolname as name, rolsuper as is_super, rolbypassrls as bypasses
      from pg_roles
     where rolname = current_user
  `)
  if (!is_super && !bypasses) return undefined
  return `The PostgreSQL user ${name} ${is_super ? 'is a superuser' : 'has BYPASSRLS'}, so row-level security does not apply to it.`
}

/** Locked while the role is created, so that nodes that start together create it once. */
const ROLE_LOCK = 4_680_004

/**
 * The target as the server uses it. A login that policies do not apply to switches to a role that they apply to; this creates
 * the role and gives it the login's tables. If the login may not create one, it stays as it is: `onFailure` gets the cause, and
 * `validateRowSecurity` reports that policies do not apply.
 */
export async function bindToPolicies(
  target: DatabaseTarget,
  onFailure: (cause: unknown) => void,
): Promise<DatabaseTarget> {
  const database = openDatabase({
    target,
    connectionsMax: 1,
    applicationName: 'postroad boot',
    statementTimeoutMs: 60_000,
  })
  try {
    if ((await validateRowSecurity(database)) === undefined) return target
    await database.transaction(makeServerRole)
    return { ...target, role: SERVER_ROLE }
  } catch (cause) {
    // Usually a privilege is missing. A login without any access fails at the next step.
    onFailure(cause)
    return target
  } finally {
    await database.close()
  }
}

/** Creates the role with its privileges, and gives it the tables of the login. The rest of the transaction runs as that role. */
export async function makeServerRole(db: Db): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(${ROLE_LOCK})`)
  // Databases of one cluster share the role, but not the lock.
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
  // The second grant: rotate-key must see which transactions are still open, including those of its own login.
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
  // Membership alone does not always allow this.
  await db.run(statement(`set local role ${SERVER_ROLE}`))
}
