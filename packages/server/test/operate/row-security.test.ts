import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  DbError,
  openDatabase,
  sql,
  type Database,
  type DatabaseTarget,
  type Db,
  type Sql,
} from '../../src/platform/db.ts'
import { makeDays } from '../../src/platform/partitions.ts'
import { findOpenTables } from '../../src/platform/row-security.ts'
import { DAY_TABLES } from '../../src/workers/upkeep.ts'
import { aDatabase } from '../stage/harness.ts'

/**
 * The second wall between tenants (docs/adr/0026): statements that forgot to name the workspace, through the Db of a
 * tenant.
 */
const raw = (text: string): Sql => ({ strings: [text], values: [] })

type Table = {
  readonly name: string
  readonly owner: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

/** Every table with rows of workspaces, from the catalog; partitions count as part of their table. */
function tenantTables(db: Db): Promise<readonly Table[]> {
  return db.many<Table>(sql`
    select c.relname as name,
           case when c.relname = 'workspaces' then 'id' else 'workspace_id' end as owner,
           json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null)) order by a.attnum)
             filter (where a.attnotnull and a.attgenerated = '' and not a.atthasdef) as columns
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relispartition
     group by c.relname
    having bool_or(a.attname = 'workspace_id') or c.relname = 'workspaces'
     order by c.relname
  `)
}

const VALUES: Readonly<Record<string, () => string>> = {
  uuid: () => `'${randomUUID()}'`,
  text: () => `'${randomUUID()}'`,
  bytea: () => `'\\x${randomUUID().replaceAll('-', '')}'`,
  'timestamp with time zone': () => 'now()',
  date: () => 'current_date',
  json: () => `'{}'`,
  boolean: () => 'false',
}

/** A row of this workspace, with a value in every column that must not be empty. */
function insertInto({ name, owner, columns }: Table, workspaceId: string): Sql {
  const all = [...columns.filter((column) => column.name !== owner), { name: owner, type: 'owner' }]
  const value = ({ type }: { type: string }): string =>
    type === 'owner' ? `'${workspaceId}'` : (VALUES[type]?.() ?? (type.endsWith('[]') ? `'{}'` : '1'))
  return raw(
    `insert into ${name} (${all.map((column) => column.name).join(', ')}) values (${all.map(value).join(', ')})`,
  )
}

const refusedByPolicy = (error: unknown): boolean =>
  error instanceof DbError && error.code === '42501' && /row-level security/.test(error.message)

const OWN = randomUUID()
const FOREIGN = randomUUID()

let made: Awaited<ReturnType<typeof aDatabase>>
let operator: Database
let pool: Database
let tables: readonly Table[]
const opened: Database[] = []

function open(target: DatabaseTarget, connectionsMax = 1): Database {
  const database = openDatabase({ target, connectionsMax, applicationName: 'test', statementTimeoutMs: 60_000 })
  opened.push(database)
  return database
}

before(async () => {
  made = await aDatabase()
  operator = open(made.operator)
  // The constraints on the other columns do not matter here.
  await operator.run(
    raw(`do $$ declare k record; begin
    for k in select conrelid::regclass as name, conname from pg_constraint where contype in ('c', 'f') and coninhcount = 0 and connamespace = 'public'::regnamespace loop
      execute format('alter table %s drop constraint %I', k.name, k.conname);
    end loop; end $$`),
  )
  // One connection, so that each statement meets the settings that an earlier one left.
  pool = open(made.target)
  await makeDays(pool, DAY_TABLES, { now: Date.now(), daysAhead: 0 })
  tables = await tenantTables(pool)
  for (const table of tables) for (const id of [OWN, FOREIGN]) await pool.run(insertInto(table, id))
})
after(async () => {
  await Promise.all(opened.map((database) => database.close()))
  await made.drop()
})

const ownersIn = async (db: Db, { name, owner }: Table): Promise<readonly string[]> =>
  (await db.many<{ owner: string }>(raw(`select ${owner} as owner from ${name}`))).map((row) => row.owner).toSorted()

const BOTH = [OWN, FOREIGN].toSorted()
const webhooks = (): Table => tables.find((table) => table.name === 'webhooks') ?? assert.fail()

describe('a statement of a tenant that forgot to name the workspace', () => {
  test('the statement reads no row of another workspace, in any tenant table, alone or in a transaction', async () => {
    assert.ok(tables.length > 20)
    const tenant = pool.forWorkspace(OWN)
    for (const table of tables) {
      assert.deepEqual(await ownersIn(tenant, table), [OWN], table.name)
      assert.deepEqual(await tenant.transaction((tx) => ownersIn(tx, table)), [OWN], table.name)
      assert.equal(
        (await tenant.many(raw(`select 1 from ${table.name} where ${table.owner} = '${FOREIGN}'`))).length,
        0,
        table.name,
      )
    }
  })

  test('the statement changes no row of another workspace, and gives no row to another workspace', async () => {
    const tenant = pool.forWorkspace(OWN)
    for (const table of tables) {
      const { name, owner } = table
      assert.equal(await tenant.run(raw(`update ${name} set ${owner} = ${owner}`)), 1, name)
      await assert.rejects(tenant.run(raw(`update ${name} set ${owner} = '${FOREIGN}'`)), refusedByPolicy, name)
      assert.deepEqual(await ownersIn(pool, table), BOTH, name)
    }
  })

  test('the statement inserts no row for another workspace', async () => {
    const tenant = pool.forWorkspace(OWN)
    for (const table of tables) {
      await assert.rejects(tenant.run(insertInto(table, FOREIGN)), refusedByPolicy, table.name)
      await assert.rejects(
        tenant.transaction((tx) => tx.run(insertInto(table, FOREIGN))),
        refusedByPolicy,
        table.name,
      )
    }
  })

  test('the statement deletes no row of another workspace', async () => {
    const tenant = pool.forWorkspace(OWN)
    for (const table of tables) {
      const undone = tenant.transaction(async (tx) => {
        assert.equal(await tx.run(raw(`delete from ${table.name}`)), 1, table.name)
        throw new Error('undone')
      })
      await assert.rejects(undone, /undone/)
      assert.deepEqual(await ownersIn(pool, table), BOTH, table.name)
    }
  })
})

test('the work of the installation sees the rows of every workspace, also when it uses a connection after a tenant', async () => {
  for (const table of tables) {
    assert.deepEqual(await ownersIn(pool, table), BOTH, table.name)
    assert.deepEqual(await ownersIn(pool.forWorkspace(OWN).forSystem, table), BOTH, table.name)
  }
})

test('a connection that does not set a workspace sees no row', async () => {
  for (const said of ['', randomUUID()]) {
    await pool.transaction(async (tx) => {
      await tx.run(sql`select set_config('postroad.workspace', ${said}, true)`)
      for (const table of tables) assert.deepEqual(await ownersIn(tx, table), [], table.name)
    })
  }
})

test('a partition shows a tenant no more than its table does', async () => {
  const partitions = await operator.many<{ name: string; parent: string }>(sql`
    select inhrelid::regclass::text as name, inhparent::regclass::text as parent
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
     where c.relkind = 'r'
  `)
  assert.ok(partitions.some(({ name }) => /_\d{8}$/.test(name)))
  for (const { name, parent } of partitions) {
    const table = { ...(tables.find((one) => one.name === parent) ?? assert.fail(parent)), name }
    const expected = name.endsWith('_default') ? BOTH : []
    assert.deepEqual(await ownersIn(pool, table), expected, name)
    assert.deepEqual(
      await ownersIn(pool.forWorkspace(OWN), table),
      expected.filter((id) => id === OWN),
      name,
    )
    await assert.rejects(
      pool.forWorkspace(OWN).run(insertInto(table, FOREIGN)),
      (error) => error instanceof DbError && (refusedByPolicy(error) || error.code === '23514'),
      name,
    )
  }
})

const everybodySeesTheirs = async (): Promise<void> => {
  assert.deepEqual(await ownersIn(pool, webhooks()), BOTH)
  assert.deepEqual(await ownersIn(pool.forWorkspace(FOREIGN), webhooks()), [FOREIGN])
  assert.deepEqual(await ownersIn(pool.forWorkspace(OWN), webhooks()), [OWN])
  assert.deepEqual(await ownersIn(pool, webhooks()), BOTH)
}

describe('the workspace setting of a statement ends with the statement', () => {
  for (const [what, text] of [
    ['done', 'select 1'],
    ['refused before it ran', 'select nothing from nowhere'],
    ['interrupted while it ran', 'select 1 / count(*) from webhooks where false'],
  ] as const) {
    test(`the setting also ends after a statement that was ${what}`, async () => {
      const tenant = pool.forWorkspace(OWN)
      await tenant.run(raw(text)).catch((error: unknown) => assert.ok(error instanceof DbError))
      await everybodySeesTheirs()
      await tenant.transaction((tx) => tx.run(raw(text))).catch((error: unknown) => assert.ok(error instanceof DbError))
      await everybodySeesTheirs()
    })
  }

  test('the setting also ends when statements of several tenants are sent at the same time on one connection', async () => {
    const asked = Array.from({ length: 90 }, async (_none, index) => {
      const [db, expected] =
        (
          [
            [pool, BOTH],
            [pool.forWorkspace(OWN), [OWN]],
            [pool.forWorkspace(FOREIGN), [FOREIGN]],
          ] as const
        )[index % 3] ?? assert.fail()
      if (index % 7 === 0) return assert.rejects(db.run(raw('select 1 / 0')))
      // With or without a parameter, because the two kinds of statement go out differently.
      const rows = await (index % 2 === 0
        ? db.many<{ owner: string }>(sql`select workspace_id as owner from webhooks where ${index}::int >= 0`)
        : db.many<{ owner: string }>(sql`select workspace_id as owner from webhooks`))
      return assert.deepEqual(rows.map((row) => row.owner).toSorted(), expected)
    })
    await Promise.all(asked)
    await everybodySeesTheirs()
  })

  test('the setting is also correct after the connection was lost and reopened', async () => {
    await assert.rejects(pool.forWorkspace(OWN).run(raw('select pg_terminate_backend(pg_backend_pid())')))
    await everybodySeesTheirs()
  })

  test('rows, numbers and columns are the same with and without the setting', async () => {
    const tenant = pool.forWorkspace(OWN)
    for (const query of [
      sql`select 1 as a, null as b, ${'x'}::text as c`,
      sql`select 1 as a`,
      sql`select 1 as a where false`,
    ]) {
      assert.deepEqual([...(await tenant.many(query))], [...(await pool.many(query))])
    }
    assert.equal(await tenant.run(sql`update webhooks set name = ${'new'}`), 1)
    assert.equal(await tenant.run(sql`update webhooks set name = 'newer' where false`), 0)
  })
})

describe('the catalog', () => {
  test('the catalog has a policy for every tenant table, and no open partition', async () => {
    assert.deepEqual(await findOpenTables(operator), [])
    const named = await operator.many<{ name: string }>(sql`
      select distinct table_name as name
        from information_schema.columns
       where table_schema = 'public'
         and column_name = 'workspace_id'
         and table_name not in (select inhrelid::regclass::text from pg_inherits)
       order by table_name
    `)
    assert.deepEqual(
      [...named.map((row) => row.name), 'workspaces'].toSorted(),
      tables.map((table) => table.name),
    )
  })

  for (const [fault, text] of [
    ['a new table', 'create table probe (workspace_id uuid not null)'],
    ['a table whose policy does not apply to its owner', 'alter table rules no force row level security'],
    ['a table whose policy is off', 'alter table rules disable row level security'],
    ['a table without a policy', 'drop policy of_workspace on rules'],
    ['a table with an additional policy', 'create policy of_all on rules using (true)'],
    ['an open partition', 'alter table records_default disable row level security'],
  ] as const) {
    test(`the check of the catalog reports ${fault}`, async () => {
      const undone = operator.transaction(async (tx) => {
        await tx.run(raw(text))
        assert.equal((await findOpenTables(tx)).length, 1)
        throw new Error('undone')
      })
      await assert.rejects(undone, /undone/)
    })
  }
})
