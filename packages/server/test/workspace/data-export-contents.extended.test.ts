import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { encodeId } from '@postroad/contract'
import { fromBufferPromise } from 'yauzl'
import { sql, type Database } from '../../src/platform/db.ts'
import { LEFT_OUT, TABLES } from '../../src/resources/tables.ts'
import { FILES } from '../../src/resources/workspace/data-export/contents.ts'
import { createExporter } from '../../src/resources/workspace/data-export/index.ts'
import { readSubmissions } from '../../src/resources/workspace/data-export/read/queries.ts'
import { anAgentOf } from '../stage/ai-stage.ts'
import { aDestination, aRule, aWebhook, anIngestKey, behind, post, signedIn } from '../stage/fixtures.ts'
import { aSink, aWorld, type Sink, type World } from '../stage/harness.ts'
import { ask, aWorkspace, theWorkspace, type Headers } from '../stage/people.ts'
import { DATABASE } from '../stage/source-settings.ts'

/** The contents of a data export. */
const DAY_MS = 86_400_000

let world: World
let database: Database
let sink: Sink
let owner: Headers
let begin = Date.parse('2026-01-15T12:00:00Z')

before(async () => {
  sink = await aSink()
})
after(() => sink.stop())
beforeEach(async () => {
  // Exports are written only when the test starts them. Each is later than the one before: ids never go back within a
  // process.
  begin += 30 * DAY_MS
  world = await aWorld({ env: { ROLES: 'web,deliver', LOG_LEVEL: 'silent' }, now: begin, loops: [] })
  database = behind(world)
  owner = await signedIn(world, await theWorkspace(database))
})
afterEach(async () => {
  await database.close()
  await world.stop()
})

const asked = async (headers = owner): Promise<string> => {
  const { status, body } = await ask(world, 'POST data-export', { headers })
  assert.equal(status, 201, JSON.stringify(body))
  return body.data_export.id
}
const written = (): Promise<unknown> => createExporter(world.app.deps).run()
const shown = async (id: string, headers = owner) =>
  (await ask(world, `GET data-export/${id}`, { headers })).body.data_export

async function download(id: string, { headers = {}, from = world }: { headers?: Headers; from?: World } = {}) {
  const response = await fetch(`${from.baseUrl}/admin/api/data-export/${id}/download`, {
    headers: { ...owner, ...headers },
  })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** The files of a zip, by name. */
async function unzipped(zip: Buffer): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {}
  const opened = await fromBufferPromise(zip)
  for await (const entry of opened.eachEntry())
    files[entry.fileName] = await text(await opened.openReadStreamPromise(entry))
  return files
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read rows as a person without types would
const rowsOf = (file: string | undefined): readonly any[] =>
  (file ?? assert.fail('the file is missing'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

const namesIn = (rows: readonly { name: string }[]): readonly string[] => rows.map(({ name }) => name).toSorted()

async function exported(headers = owner): Promise<Readonly<Record<string, string>>> {
  const id = await asked(headers)
  await written()
  return unzipped((await download(id, { headers })).bytes)
}

/** One resource of each kind, with a marker in every secret value. */
async function fill() {
  const webhook = await aWebhook(world, {
    dataset: 'orders',
    verification: { scheme: 'hmac', secret: 'canary-verification' },
    handshake: { kind: 'hub_challenge', verify_token: 'canary-token' },
  })
  const plain = await aWebhook(world, { dataset: 'orders' })
  await world.admin('POST', `webhooks/${plain.id}/views`, { name: 'Amounts', columns: [{ key: 'a' }] })
  const { destination, secret } = await aDestination(world, {
    url: sink.url,
    datasets: ['orders'],
    headers: { 'X-Token': 'canary-header' },
  })
  const rule = await aRule(world)
  const { agent } = await anAgentOf(world, { provider: { api_key: 'canary-model-key' } })
  await world.admin('POST', 'triggers', { name: 'Triage', dataset: 'orders', agent_id: agent })
  const key = await anIngestKey(world, { require_signature: true })
  const idle = { name: 'Idle', dataset: 'rows', enabled: false }
  await world.admin('POST', 'cron-triggers', { ...idle, expression: '0 9 * * *' })
  await world.admin('POST', 'sources', { ...idle, settings: DATABASE })
  const headers = { 'X-Token': 'canary-header' }
  await world.admin('POST', 'ws-triggers', {
    ...idle,
    url: 'ws://127.0.0.1:9/',
    headers,
    subscribe: ['canary-message'],
  })
  await world.admin('POST', 'forwarders', { name: 'Idle', endpoint: 'http://127.0.0.1:9', enabled: false, headers })
  const bodies = ['{"a":1}', '{\n  "a": 12345678901234567890123,\r\n "b":"line\\nline" }', '{"a":"ü 𝄞"}']
  for (const body of bodies) assert.equal((await post(plain.public_url, body)).status, 201)
  assert.equal((await post(webhook.public_url, '{}')).status, 401)
  await world.idle()
  assert.equal((await world.admin('GET', 'deliveries?state=delivered')).body.deliveries.length, bodies.length)
  await world.run('rejections.flush')
  assert.equal((await world.admin('GET', 'rejections')).body.rejections.length, 1)
  await ask(world, 'POST invites', { headers: owner, body: { email: 'invited@example.com', role: 'viewer' } })
  assert.ok(
    (await ask(world, 'POST deliveries/replays', { headers: owner, body: { filter: { state: ['delivered'] } } })).body
      .replay,
  )
  const definition = { name: 'Follow up', entry_dataset: 'idle', steps: [{ id: 'later', type: 'delay', seconds: 60 }] }
  const { workflow } = (await world.admin('POST', 'workflows', definition)).body
  const code = 'const transform = (event) => event'
  assert.equal((await world.admin('POST', 'transforms', { name: 'Same', code })).status, 201)
  const [record] = (await world.admin('GET', 'records')).body.records
  assert.equal((await world.admin('POST', `workflows/${workflow.id}/run`, { record_id: record.id })).status, 201)
  await ask(world, 'POST sso/requests', { headers: owner, body: { domains: ['example.com'] } })
  const { key: dataKey } = (await world.admin('POST', 'data-keys', { name: 'Warehouse' })).body
  const { portal } = (await world.admin('POST', 'portals', { name: 'Customers' })).body
  const { token } = (await world.admin('POST', `portals/${portal.id}/tokens`, { customer_id: 'acme' })).body
  const { workspaceId } = await theWorkspace(database)
  await database.run(
    sql`insert into monthly_usage (workspace_id, month, events, deliveries) values (${workspaceId}, '2026-01-01', 7, 9)`,
  )
  return {
    webhook,
    plain,
    destination,
    rule,
    bodies,
    secrets: [
      'canary',
      secret,
      key.key,
      key.secret,
      webhook.webhook_slug,
      plain.webhook_slug,
      dataKey,
      token,
      world.installed.api_key,
    ],
  }
}

test('an export contains everything of the workspace as the API shows it, and nothing of another one', async () => {
  const stranger = await signedIn(world, await aWorkspace(world, database, 'stranger'))
  await ask(world, 'POST webhooks', { headers: stranger, body: { name: 'of a stranger' } })
  const { plain, destination, rule, bodies } = await fill()
  const { project } = (await world.admin('POST', 'projects', { name: 'Second' })).body
  await world.admin('POST', `projects/${project.id}/rules`, { name: 'of the second', dataset: 'd' })
  world.clock.advance(1_000)
  const id = await asked()
  assert.equal((await shown(id)).state, 'pending')
  await written()
  const { state, progress, file, error } = await shown(id)
  assert.deepEqual([state, error], ['ready', null])
  assert.equal(progress.files_done, progress.files_total)
  assert.equal(progress.rows_done, progress.rows_total)
  const { bytes } = await download(id)
  assert.deepEqual([bytes.length, createHash('sha256').update(bytes).digest('hex')], [file.bytes, file.sha256])
  const files = await unzipped(bytes)
  const rows = (name: string) => rowsOf(files[`${name}.ndjson`])
  assert.deepEqual(namesIn(rows('projects')), ['Default', 'Second'])
  assert.deepEqual(
    rows('rules').map(({ id: one, project_id }) => (one === rule.id) !== (project_id === project.id)),
    [true, true],
  )
  assert.deepEqual(
    rows('record_views').map(({ name, webhook_id }) => [name, webhook_id]),
    [['Amounts', plain.id]],
  )
  assert.deepEqual(
    rows('destinations').map(({ id: one, url, header_names }) => [one, url, header_names]),
    [[destination.id, sink.url, ['X-Token']]],
  )
  assert.equal(rows('webhooks').length, 3)
  assert.equal(rows('ingest_keys').length, 1)
  assert.deepEqual(
    rows('submissions').map(({ body }) => body),
    bodies,
  )
  assert.deepEqual(
    rows('records').map(({ dataset }) => dataset),
    ['orders', 'orders', 'orders'],
  )
  assert.ok(files['records.ndjson']?.includes('"a": 12345678901234567890123'), 'numbers retain their digits')
  assert.deepEqual(
    rows('records').map(({ data }) => data),
    bodies.map((body) => JSON.parse(body)),
  )
  assert.deepEqual(
    rows('deliveries').map(({ state: one, attempts }) => [
      one,
      attempts.map((attempt: { outcome: string; response_body: string }) => [attempt.outcome, attempt.response_body]),
    ]),
    bodies.map(() => ['delivered', [['succeeded', 'ok']]]),
  )
  assert.equal(rows('deliveries')[0].attempts[0].request.url, sink.url)
  assert.deepEqual(
    rows('rejections').map(({ reason }) => reason),
    ['missing_header'],
  )
  assert.ok(rows('audit').some(({ action }) => action === 'create_rule'))
  assert.deepEqual(
    rows('workspace').map(({ slug }) => slug),
    ['main'],
  )
  assert.deepEqual(
    rows('invites').map(({ email, status }) => [email, status]),
    [['invited@example.com', 'pending']],
  )
  assert.deepEqual(rows('monthly_usage'), [{ month: '2026-01', events: 7, deliveries: 9 }])
  assert.deepEqual(
    rows('replays').map(({ project_id }) => project_id),
    [world.installed.project.id],
  )
  const versions = rows('webhook_versions').filter(({ webhook_id }) => webhook_id === plain.id)
  assert.deepEqual(versions, [
    {
      webhook_id: plain.id,
      project_id: world.installed.project.id,
      ...(await world.admin('GET', `webhooks/${plain.id}/versions/1`)).body.version,
    },
  ])
  assert.deepEqual(
    Object.keys(FILES).filter((name) => rows(name).length === 0),
    [],
    'each file has a row',
  )
  const [shownRule] = (await world.admin('GET', 'rules')).body.rules
  assert.deepEqual(
    rows('rules').find(({ id: one }) => one === rule.id),
    { ...shownRule, project_id: world.installed.project.id },
  )
  const counts = Object.fromEntries(
    Object.keys(files)
      .filter((name) => name.endsWith('.ndjson'))
      .map((name) => [name, rowsOf(files[name]).length]),
  )
  const manifest = JSON.parse(files['manifest.json'] ?? '')
  assert.deepEqual([manifest.rows, manifest.left_out], [counts, LEFT_OUT])
  assert.equal(
    Object.values(counts).reduce((a, b) => a + b, 0),
    progress.rows_done,
  )
  assert.ok(!Object.values(files).some((file_) => file_.includes('of a stranger')))
})

test('a room declares every table of a workspace, with the file of the export or with the reason why none has it', async () => {
  const tables = await database.many<{ name: string }>(sql`
    select c.relname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     group by c.relname
    having bool_or(a.attname = 'workspace_id') or c.relname = 'workspaces'
  `)
  const declared = Object.entries(TABLES).filter(([, of]) => 'exported' in of || 'leftOut' in of)
  assert.deepEqual(declared.map(([name]) => name).toSorted(), tables.map(({ name }) => name).toSorted())
  for (const why of Object.values(LEFT_OUT)) assert.match(why, /^[A-Z].{10,}\.$/)
})

test('an export that is deleted during its last statement is not reported as finished', async () => {
  const id = await asked()
  const reported: string[] = []
  const { deps } = world.app
  const run: Database['run'] = async (query) => {
    const finishes = query.strings.some((part) => part.includes("state = 'ready'"))
    if (finishes) assert.equal((await ask(world, `DELETE data-export/${id}`, { headers: owner })).status, 200)
    return deps.database.run(query)
  }
  const log = {
    ...deps.log,
    info: (event: string) => void reported.push(event),
    warn: (event: string) => void reported.push(event),
  }
  await createExporter({ ...deps, log, database: { ...deps.database, run } }).run()
  assert.deepEqual(reported, [])
})

test('no export contains a secret, a key or a URL of an endpoint', async () => {
  const { secrets } = await fill()
  world.clock.advance(1_000)
  for (const [name, file] of Object.entries(await exported()))
    for (const secret of secrets) assert.ok(!file.includes(secret), `${name} holds ${secret.slice(0, 6)}…`)
})

test('an export contains everything that was accepted before it was requested, and nothing that came later', async () => {
  const { public_url } = await aWebhook(world)
  assert.equal((await post(public_url, '"before"')).status, 201)
  const id = await asked()
  world.clock.advance(1_000)
  assert.equal((await post(public_url, '"after"')).status, 201)
  await written()
  const files = await unzipped((await download(id)).bytes)
  assert.deepEqual(
    rowsOf(files['submissions.ndjson']).map(({ body }) => body),
    ['"before"'],
  )
  assert.deepEqual(
    rowsOf(files['records.ndjson']).map(({ data }) => data),
    ['before'],
  )
})

test('a page contains no more bodies than fit into little memory, and at least one', async () => {
  const { workspaceId, defaultProjectId: projectId } = await theWorkspace(database)
  const sizes = [3_000_000, 1_500_000, 900_000, 100, 5_000_000, 100]
  for (const size of sizes) {
    await database.run(sql`
      insert into submissions (workspace_id, project_id, id, received_at, headers, body, body_size, decision, record_ids)
      values (${workspaceId}, ${projectId}, ${world.app.deps.uuid()}, now(), '{}', repeat('a', ${size}::int), ${size}, '{}', '{}')
    `)
  }
  const pages: number[][] = []
  for (let afterId = '00000000-0000-0000-0000-000000000000'; ;) {
    const page = await readSubmissions(database, {
      workspaceId,
      projectId,
      after: afterId,
      before: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    })
    const last = page.at(-1)
    if (last === undefined) break
    pages.push(page.map(({ body_size }) => body_size))
    afterId = last.id
  }
  assert.deepEqual(pages, [[3_000_000, 1_500_000], [900_000, 100, 5_000_000], [100]])
  assert.equal(encodeId('dataExport', world.app.deps.uuid()).slice(0, 4), 'exp_')
})
