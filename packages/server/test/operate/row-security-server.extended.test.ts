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
import { bindToPolicies, validateRowSecurity } from '../../src/platform/row-security.ts'
import { checkPolicies } from '../../src/storage.ts'
import { DAY_TABLES } from '../../src/workers/upkeep.ts'
import { runCommand } from '../stage/command.ts'
import { aWebhook, post } from '../stage/fixtures.ts'
import { aDatabase, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The second wall between tenants (docs/adr/0026) in a running server. */
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

describe('a running server', () => {
  let world: World
  let database: Database
  onWorldStage(
    (stage) => {
      ;({ world, database } = stage)
    },
    { loops: 'all' },
  )

  test('the server works as a PostgreSQL user that cannot bypass policies', async () => {
    assert.equal(await validateRowSecurity(world.app.deps.database), undefined)
  })

  test('verbs and streams ask for one workspace only', async () => {
    const webhook = await aWebhook(world, { dataset: 'probed' })
    const accepted = await post(webhook.public_url, '{"a":1}')
    assert.equal(accepted.status, 201)
    // From here on these tables show nothing to a connection of every workspace, so a verb that still finds rows asked
    // for its own workspace.
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

  test('the doctor reports that the policies are in effect', async () => {
    const { stdout } = await runCommand(world, ['doctor', '--json'])
    const checks = (JSON.parse(stdout) as { findings: { check: string; ok: boolean }[] }).findings
    for (const check of ['row-level security applies to the server', 'every tenant table has its policy'])
      assert.equal(checks.find((one) => one.check === check)?.ok, true, check)
  })

  test('a server whose user bypasses policies and cannot create another user reports this in one line with the remedy', async () => {
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
        'the report names the obstacle',
      )
      const { code, stdout } = await runCommand({ storage: { ...world.storage, operator: target } }, ['doctor'])
      assert.equal(code, 1)
      assert.match(
        stdout,
        new RegExp(
          `^BAD   row-level security applies to the server: 1 found\\. The PostgreSQL user ${name} has BYPASSRLS, so row-level security does not apply to it\\. In DATABASE_URL, use `,
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

  test('the Db of a verb shows no rows of another workspace', async () => {
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
