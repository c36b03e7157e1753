import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { fromBufferPromise } from 'yauzl'
import { sql, type Database } from '../../src/platform/db.ts'
import { CHUNK_BYTES } from '../../src/resources/workspace/data-export/archive.ts'
import { LEFT_OUT, SOURCES } from '../../src/resources/workspace/data-export/contents.ts'
import { createExporter } from '../../src/resources/workspace/data-export/index.ts'
import { claimExport, putProgress } from '../../src/resources/workspace/data-export/queries.ts'
import { readSubmissions } from '../../src/resources/workspace/data-export/read/queries.ts'
import { aDestination, aRule, aWebhook, anIngestKey, behind, post, signedIn, statement } from '../stage/fixtures.ts'
import { aSink, aWorld, eventually, type Sink, type World } from '../stage/harness.ts'
import { aKeyOf, ask, aWorkspace, theWorkspace, type Headers } from '../stage/people.ts'

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
  // Exports are written when the test says so.
  // Each later than the one before: ids never go back within a process.
  begin += 30 * DAY_MS
  world = await aWorld({ env: { ROLES: 'web,deliver', LOG_LEVEL: 'silent' }, now: begin })
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
const written = (): Promise<void> => createExporter(world.app.deps).run()
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

/** One of everything, with a mark in all that is secret. */
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
  const key = await anIngestKey(world, { require_signature: true })
  const bodies = ['{"a":1}', '{\n  "a": 12345678901234567890123,\r\n "b":"line\\nline" }', '{"a":"ü 𝄞"}']
  for (const body of bodies) assert.equal((await post(plain.public_url, body)).status, 201)
  assert.equal((await post(webhook.public_url, '{}')).status, 401)
  await eventually(
    async () =>
      (await world.admin('GET', 'deliveries?state=delivered')).body.deliveries.length === bodies.length
        ? true
        : undefined,
    2_000,
  )
  await eventually(async () => {
    world.clock.advance(1_000)
    return (await world.admin('GET', 'rejections')).body.rejections.length === 1 ? true : undefined
  })
  await ask(world, 'POST invites', { headers: owner, body: { email: 'invited@example.com', role: 'viewer' } })
  assert.ok(
    (await ask(world, 'POST deliveries/replays', { headers: owner, body: { filter: { state: ['delivered'] } } })).body
      .replay,
  )
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
    secrets: ['canary', secret, key.key, key.secret, webhook.webhook_slug, plain.webhook_slug, world.installed.api_key],
  }
}

test('an export holds everything of the workspace as the API shows it, and nothing of another one', async () => {
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
  assert.ok(files['records.ndjson']?.includes('"a": 12345678901234567890123'), 'numbers keep their digits')
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
    SOURCES.filter(({ name }) => rows(name).length === 0).map(({ name }) => name),
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

test('every table of a workspace is in a file of the export, or in the list of what is left out with its reason', async () => {
  const tables = await database.many<{ name: string }>(sql`
    select c.relname as name
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     group by c.relname
    having bool_or(a.attname = 'workspace_id') or c.relname = 'workspaces'
  `)
  const known = [...SOURCES.flatMap((source) => source.tables), ...Object.keys(LEFT_OUT)]
  assert.deepEqual(known.toSorted(), tables.map(({ name }) => name).toSorted())
  for (const why of Object.values(LEFT_OUT)) assert.match(why, /^[A-Z].{10,}\.$/)
})

test('one that is deleted as its last statement runs is not told of as finished', async () => {
  const id = await asked()
  const told: string[] = []
  const { deps } = world.app
  const run: Database['run'] = async (query) => {
    const finishes = query.strings.some((part) => part.includes("state = 'ready'"))
    if (finishes) assert.equal((await ask(world, `DELETE data-export/${id}`, { headers: owner })).status, 200)
    return deps.database.run(query)
  }
  const log = {
    ...deps.log,
    info: (event: string) => void told.push(event),
    warn: (event: string) => void told.push(event),
  }
  await createExporter({ ...deps, log, database: { ...deps.database, run } }).run()
  assert.deepEqual(told, [])
})

test('no secret, no key and no URL of an endpoint stands in an export', async () => {
  const { secrets } = await fill()
  world.clock.advance(1_000)
  for (const [name, file] of Object.entries(await exported()))
    for (const secret of secrets) assert.ok(!file.includes(secret), `${name} holds ${secret.slice(0, 6)}…`)
})

test('what was accepted before it was asked for is in it, and what came later is not', async () => {
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

/** So much that no compression makes one piece of it. */
async function aLargeOne(): Promise<string> {
  const { public_url } = await aWebhook(world)
  for (let event = 0; event < 3; event += 1)
    assert.equal((await post(public_url, JSON.stringify(randomBytes(700_000).toString('base64')))).status, 201)
  return asked()
}

test('a download that broke off is gone on with where it ended, from another node too, and only of the same file', async () => {
  const id = await aLargeOne()
  await written()
  const whole = await download(id)
  const etag = whole.headers.get('etag') ?? ''
  assert.ok(whole.bytes.length > 3 * CHUNK_BYTES)
  assert.deepEqual(
    [whole.status, whole.headers.get('accept-ranges'), whole.headers.get('content-length')],
    [200, 'bytes', String(whole.bytes.length)],
  )
  assert.equal(etag, (await shown(id)).file.etag)
  const beside = await aWorld({ beside: world, env: { ROLES: 'web' } })
  try {
    const cut = CHUNK_BYTES + 17
    const [first, rest] = [
      await download(id, { headers: { range: `bytes=0-${cut - 1}` } }),
      await download(id, { from: beside, headers: { range: `bytes=${cut}-`, 'if-range': etag } }),
    ]
    assert.deepEqual([first.status, rest.status], [206, 206])
    assert.equal(rest.headers.get('content-range'), `bytes ${cut}-${whole.bytes.length - 1}/${whole.bytes.length}`)
    assert.ok(Buffer.concat([first.bytes, rest.bytes]).equals(whole.bytes))
  } finally {
    await beside.stop()
  }
  for (const [range, from, to] of [
    ['bytes=524287-524288', 524_287, 524_289],
    ['bytes=-5', whole.bytes.length - 5, whole.bytes.length],
  ] as const) {
    assert.ok((await download(id, { headers: { range } })).bytes.equals(whole.bytes.subarray(from, to)), range)
  }
  const other = await download(id, { headers: { range: 'bytes=5-', 'if-range': '"another"' } })
  assert.deepEqual([other.status, other.bytes.length], [200, whole.bytes.length])
  const outside = await download(id, { headers: { range: `bytes=${whole.bytes.length}-` } })
  assert.deepEqual([outside.status, outside.headers.get('content-range')], [416, `bytes */${whole.bytes.length}`])
})

test('who was overtaken as its writer writes nothing beside the next one', async () => {
  const { database: db } = world.app.deps
  await asked()
  const now = world.clock.now()
  const [soon, later] = [new Date(now + 60_000), new Date(now + 120_000)]
  const first = (await claimExport(db, { now: new Date(now), until: soon })) ?? assert.fail('nobody has it')
  const next = (await claimExport(db, { now: soon, until: later })) ?? assert.fail('its writer is late')
  assert.deepEqual([next.id, next.claim], [first.id, first.claim + 1])
  const progress = {
    filesDone: 0,
    rowsDone: 0,
    rowsTotal: 1,
    bytes: 4,
    until: later,
    chunk: { number: 0, data: Buffer.from('late') },
  }
  const write = (row: typeof next): Promise<boolean> =>
    putProgress(db, { workspaceId: row.workspace_id, id: row.id, claim: row.claim, ...progress })
  assert.deepEqual([await write(first), await write(next)], [false, true])
})

test('when its writer dies another begins again once its claim is over, and what the first still writes changes nothing', async () => {
  const id = await aLargeOne()
  const now = world.clock.now()
  const dead = await claimExport(world.app.deps.database, { now: new Date(now), until: new Date(now + 60_000) })
  const { workspaceId } = await theWorkspace(database)
  const claim = {
    workspaceId,
    id: decodeId('dataExport', id) ?? '',
    claim: dead?.claim ?? 0,
    filesDone: 0,
    rowsDone: 0,
    rowsTotal: 9,
    bytes: 5,
    until: new Date(now + 60_000),
  }
  assert.ok(await putProgress(world.app.deps.database, { ...claim, chunk: { number: 0, data: Buffer.from('dead!') } }))
  await written()
  assert.equal((await shown(id)).state, 'running', 'it is held')
  world.clock.advance(60_000)
  await written()
  assert.equal(
    await putProgress(world.app.deps.database, { ...claim, chunk: { number: 99, data: Buffer.from('late') } }),
    false,
  )
  const { state, file } = await shown(id)
  assert.equal(state, 'ready')
  const { bytes } = await download(id)
  assert.equal(createHash('sha256').update(bytes).digest('hex'), file.sha256)
  assert.equal(rowsOf((await unzipped(bytes))['submissions.ndjson']).length, 3)
})

test('a server that stops lets go of an export, for another to begin again at once', async () => {
  const id = await aLargeOne()
  const { deps } = world.app
  const first = createExporter({ ...deps, clock: { ...deps.clock, now: () => (first.stop(), world.clock.now()) } })
  const row = await claimExport(deps.database, {
    now: new Date(world.clock.now() - 1),
    until: new Date(world.clock.now()),
  })
  assert.ok(row)
  await first.run()
  assert.equal((await shown(id)).state, 'running')
  await written()
  assert.equal((await shown(id)).state, 'ready')
})

test('an export that breaks off five times fails and says what to do; a new one can be asked for', async () => {
  const id = await asked()
  await statement(database, 'alter table rejections rename to mislaid')
  for (let begun = 0; begun < 5; begun += 1) {
    await written()
    world.clock.advance(30_000)
  }
  await statement(database, 'alter table mislaid rename to rejections')
  const { state, error, file } = await shown(id)
  assert.deepEqual([state, file], ['failed', null])
  assert.match(error, /broke off.*Ask for a new one/)
  await exported()
})

test('after 7 days an export is expired: its download is over and its file is removed', async () => {
  const id = await asked()
  await written()
  world.clock.advance(7 * DAY_MS - 1)
  const late = await signedIn(world, await theWorkspace(database))
  assert.equal((await download(id, { headers: late })).status, 200)
  world.clock.advance(1)
  assert.deepEqual(
    [(await download(id, { headers: late })).status, (await shown(id, late)).state, (await shown(id, late)).file],
    [410, 'expired', null],
  )
  await written()
  assert.deepEqual((await database.many(sql`select 1 from data_export_chunks`)).length, 0)
})

test('one that is deleted is gone at once, stops being written, and its file is removed', async () => {
  const id = await aLargeOne()
  await written()
  const other = await asked()
  for (const one of [id, other])
    assert.equal((await ask(world, `DELETE data-export/${one}`, { headers: owner })).status, 200)
  assert.equal((await ask(world, `GET data-export/${id}`, { headers: owner })).status, 404)
  assert.equal((await download(id)).status, 404)
  await written()
  assert.equal((await database.many(sql`select 1 from data_export_chunks`)).length, 0)
  assert.equal(
    (
      await database.many(
        sql`select 1 from data_exports where state = 'ready' and id = ${decodeId('dataExport', other) ?? ''}`,
      )
    ).length,
    0,
  )
  const actions = (await world.admin('GET', 'audit?limit=10')).body.audit.filter(
    ({ target }: { target: string }) => target === id || target === other,
  )
  assert.deepEqual(actions.map(({ action }: { action: string }): string => action).toSorted(), [
    'create_data_export',
    'create_data_export',
    'delete_data_export',
    'delete_data_export',
  ])
})

test('admins ask for an export and read it, nobody with a lesser role does, and a key of one project does not', async () => {
  const home = await theWorkspace(database)
  const id = await asked()
  await written()
  const admin = await aKeyOf(world, database, { ...home, role: 'admin' })
  assert.equal((await download(id, { headers: { cookie: '', ...admin.headers } })).status, 200)
  for (const [role, projectId, reason] of [
    ['viewer', undefined, 'insufficient_role'],
    ['developer', undefined, 'insufficient_role'],
    ['admin', home.defaultProjectId, 'project_out_of_scope'],
  ] as const) {
    const { headers } = await aKeyOf(world, database, {
      ...home,
      role,
      ...(projectId === undefined ? {} : { projectId }),
    })
    for (const line of ['POST data-export', 'GET data-export', `GET data-export/${id}/download`])
      assert.equal((await ask(world, line, { headers })).body.reason, reason, `${role} ${line}`)
  }
})

test('while the workspace is suspended an export that is there is read and none is begun; one that is closed is exported too', async () => {
  const id = await asked()
  await written()
  await database.run(sql`update workspaces set suspended_at = now()`)
  assert.equal((await ask(world, 'POST data-export', { headers: owner })).body.reason, 'workspace_suspended')
  assert.equal((await download(id)).status, 200)
  await database.run(sql`update workspaces set suspended_at = null, closed_at = now()`)
  const { 'projects.ndjson': file } = await exported()
  assert.equal(rowsOf(file).length, 1)
})

test('a page holds no more bodies than fit into little memory, and one at least', async () => {
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
