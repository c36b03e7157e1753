import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
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
import { bindToPolicies, findOpenTables, whyUnbound } from '../../src/platform/row-security.ts'
import { checkPolicies } from '../../src/storage.ts'
import { DAY_TABLES } from '../../src/workers/upkeep.ts'
import { runCommand } from '../stage/command.ts'
import { aWebhook, post } from '../stage/fixtures.ts'
import { aDatabase, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The second wall between tenants (docs/adr/0026): statements that forgot to name the workspace, through a tenant's Db. */
const raw = (text: string): Sql => ({ strings: [text], values: [] })

type Table = {
  readonly name: string
  readonly owner: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

/** Every table that holds rows of workspaces, told by the catalog; partitions are parts of theirs. */
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

/** A row of this workspace, with something in every column that must not be empty. */
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
  // What a row must say beside its workspace is not the question here.
  await operator.run(
    raw(`do $$ declare k record; begin
    for k in select conrelid::regclass as name, conname from pg_constraint where contype in ('c', 'f') and coninhcount = 0 and connamespace = 'public'::regnamespace loop
      execute format('alter table %s drop constraint %I', k.name, k.conname);
    end loop; end $$`),
  )
  // One connection: whatever one statement leaves behind the next one meets.
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
  test('reads no row of another one, in any tenant table, alone or in a transaction', async () => {
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

  test('changes none, and gives none away', async () => {
    const tenant = pool.forWorkspace(OWN)
    for (const table of tables) {
      const { name, owner } = table
      assert.equal(await tenant.run(raw(`update ${name} set ${owner} = ${owner}`)), 1, name)
      await assert.rejects(tenant.run(raw(`update ${name} set ${owner} = '${FOREIGN}'`)), refusedByPolicy, name)
      assert.deepEqual(await ownersIn(pool, table), BOTH, name)
    }
  })

  test('inserts none for another one', async () => {
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

  test('deletes none', async () => {
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

test("the work of the installation meets the rows of every workspace, and a tenant's pool gives it back", async () => {
  for (const table of tables) {
    assert.deepEqual(await ownersIn(pool, table), BOTH, table.name)
    assert.deepEqual(await ownersIn(pool.forWorkspace(OWN).forSystem, table), BOTH, table.name)
  }
})

test('a connection that does not say for whom it asks meets no row', async () => {
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

describe('what is said for one statement ends with it', () => {
  for (const [what, text] of [
    ['done', 'select 1'],
    ['refused before it ran', 'select nothing from nowhere'],
    ['broken off while it ran', 'select 1 / count(*) from webhooks where false'],
  ] as const) {
    test(`also one that was ${what}`, async () => {
      const tenant = pool.forWorkspace(OWN)
      await tenant.run(raw(text)).catch((error: unknown) => assert.ok(error instanceof DbError))
      await everybodySeesTheirs()
      await tenant.transaction((tx) => tx.run(raw(text))).catch((error: unknown) => assert.ok(error instanceof DbError))
      await everybodySeesTheirs()
    })
  }

  test('also when statements of several tenants go out at once on one connection', async () => {
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
      // A parameter more or less: each kind of statement goes out in its own way.
      const rows = await (index % 2 === 0
        ? db.many<{ owner: string }>(sql`select workspace_id as owner from webhooks where ${index}::int >= 0`)
        : db.many<{ owner: string }>(sql`select workspace_id as owner from webhooks`))
      return assert.deepEqual(rows.map((row) => row.owner).toSorted(), expected)
    })
    await Promise.all(asked)
    await everybodySeesTheirs()
  })

  test('also when the connection was lost and made anew', async () => {
    await assert.rejects(pool.forWorkspace(OWN).run(raw('select pg_terminate_backend(pg_backend_pid())')))
    await everybodySeesTheirs()
  })

  test('and gives rows, numbers and columns as without it', async () => {
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
  test('knows a policy for every tenant table, and no open partition', async () => {
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
    ['a table that its owner is free of', 'alter table rules no force row level security'],
    ['a table whose policy is off', 'alter table rules disable row level security'],
    ['a table without a policy', 'drop policy of_workspace on rules'],
    ['a table with a policy more', 'create policy of_all on rules using (true)'],
    ['an open partition', 'alter table records_default disable row level security'],
  ] as const) {
    test(`shows ${fault}`, async () => {
      const undone = operator.transaction(async (tx) => {
        await tx.run(raw(text))
        assert.equal((await findOpenTables(tx)).length, 1)
        throw new Error('undone')
      })
      await assert.rejects(undone, /undone/)
    })
  }
})

describe('a running server', () => {
  let world: World
  let database: Database
  onWorldStage((stage) => {
    ;({ world, database } = stage)
  })

  test('works as a PostgreSQL user that cannot bypass policies', async () => {
    assert.equal(await whyUnbound(world.app.deps.database), undefined)
  })

  test('asks for one workspace alone in every verb and in streams', async () => {
    const webhook = await aWebhook(world, { dataset: 'probed' })
    const accepted = await post(webhook.public_url, '{"a":1}')
    assert.equal(accepted.status, 201)
    // From here on these tables show nothing to who asks for every workspace: what a verb still finds, it found for its own.
    const probed = [
      'projects',
      'webhooks',
      'webhook_versions',
      'submissions',
      'records',
      'datasets',
      'rules',
      'destinations',
      'deliveries',
      'delivery_attempts',
      'record_views',
      'rejections',
      'ingest_keys',
      'audit_rows',
      'idempotency_records',
    ]
    for (const name of probed)
      await database.run(
        raw(`create policy probe on ${name} as restrictive using (current_setting('postroad.workspace') <> 'every')`),
      )
    assert.equal((await world.app.deps.database.many(raw('select id from webhooks'))).length, 0)
    const found = async (path: string, member: string): Promise<number> =>
      (await world.admin('GET', path)).body[member].length
    assert.ok((await found('webhooks', 'webhooks')) >= 2)
    assert.equal(await found('records?dataset=probed', 'records'), 1)
    for (const member of ['projects', 'submissions', 'datasets']) assert.ok((await found(member, member)) >= 1, member)
    assert.ok((await found('audit', 'audit')) >= 1)
    const rule = await world.admin(
      'POST',
      'rules',
      { name: 'probed', dataset: 'probed' },
      { 'idempotency-key': 'probe' },
    )
    assert.equal(rule.status, 201)
    assert.equal((await world.admin('PATCH', `rules/${rule.body.rule.id}`, { name: 'again' })).status, 200)
    assert.equal((await world.admin('DELETE', `rules/${rule.body.rule.id}`)).status, 200)
    const stream = await fetch(`${world.baseUrl}/admin/api/stream?since=2026-01-01T00:00:00Z`, {
      headers: { authorization: `Bearer ${world.installed.api_key}` },
    })
    const reader = stream.body?.getReader() ?? assert.fail()
    let said = ''
    while (!said.includes('event: record')) said += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    for (const name of probed) await database.run(raw(`drop policy probe on ${name}`))
  })

  test('lets the doctor say that the wall stands', async () => {
    const { stdout } = await runCommand(world, ['doctor', '--json'])
    const checks = (JSON.parse(stdout) as { findings: { check: string; ok: boolean }[] }).findings
    for (const check of ['row-level security applies to the server', 'every tenant table has its policy'])
      assert.equal(checks.find((one) => one.check === check)?.ok, true, check)
  })

  test('says in one line that its user bypasses policies, and what to do, when it may not make another', async () => {
    const name = `bypassing_${randomUUID().replaceAll('-', '')}`
    for (const text of [
      `create role ${name} login bypassrls`,
      `grant usage, create on schema public to ${name}`,
      `grant all on all tables in schema public to ${name}`,
    ])
      await database.run(raw(text))
    try {
      const { operator: login } = world.storage
      const target =
        'url' in login
          ? { url: Object.assign(new URL(login.url), { username: name }).href }
          : { ...login, username: name }
      const heard: unknown[] = []
      assert.deepEqual(await bindToPolicies(target, (cause) => void heard.push(cause)), target)
      assert.ok(
        heard.length === 1 && heard[0] instanceof DbError && heard[0].code === '42501',
        'what stood in the way is told',
      )
      const { code, stdout } = await runCommand({ storage: { ...world.storage, operator: target } }, ['doctor'])
      assert.equal(code, 1)
      assert.match(
        stdout,
        new RegExp(
          `^BAD   row-level security applies to the server: 1 found\\. The PostgreSQL user ${name} has BYPASSRLS, so row-level security does not apply to it\\. Put `,
          'm',
        ),
      )
      const said: unknown[] = []
      const own = open(target)
      await checkPolicies(own, { ...world.app.deps.log, error: (...line) => void said.push(line) })
      assert.match(JSON.stringify(said), /postgres\.policies_bypassed.*has BYPASSRLS/)
    } finally {
      await database.run(raw(`drop owned by ${name}`))
      await database.run(raw(`drop role ${name}`))
    }
  })

  test('refuses a verb what belongs to another workspace, by its own Db', async () => {
    const own = decodeId('workspace', world.installed.workspace.id) ?? ''
    const other = randomUUID()
    await database.run(
      sql`insert into workspaces (id, slug, name, created_at) values (${other}, 'other', 'Other', now())`,
    )
    assert.deepEqual(
      [...(await world.app.deps.database.forWorkspace(own).many(sql`select id from workspaces`))],
      [{ id: own }],
    )
  })
})
