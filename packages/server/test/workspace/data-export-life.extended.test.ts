import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { fromBufferPromise } from 'yauzl'
import { sql, type Database } from '../../src/platform/db.ts'
import { CHUNK_BYTES } from '../../src/resources/workspace/data-export/archive.ts'
import { createExporter } from '../../src/resources/workspace/data-export/index.ts'
import { claimExport, putProgress } from '../../src/resources/workspace/data-export/queries.ts'
import { aWebhook, behind, post, signedIn, statement } from '../stage/fixtures.ts'
import { aSink, aWorld, type Sink, type World } from '../stage/harness.ts'
import { aKeyOf, ask, theWorkspace, type Headers } from '../stage/people.ts'

/** The life of a data export: its writers, its download, its end, and permission. */
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

async function exported(headers = owner): Promise<Readonly<Record<string, string>>> {
  const id = await asked(headers)
  await written()
  return unzipped((await download(id, { headers })).bytes)
}

/** This many bytes cannot be compressed into one piece. */
async function aLargeOne(): Promise<string> {
  const { public_url } = await aWebhook(world)
  for (let event = 0; event < 3; event += 1)
    assert.equal((await post(public_url, JSON.stringify(randomBytes(700_000).toString('base64')))).status, 201)
  return asked()
}

test('an interrupted download resumes where it ended, also from another node, and only for the same file', async () => {
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

test('a writer that lost its claim writes nothing while the next one works', async () => {
  const { database: db } = world.app.deps
  await asked()
  const now = world.clock.now()
  const [soon, later] = [new Date(now + 60_000), new Date(now + 120_000)]
  const first = (await claimExport(db, { now: new Date(now), until: soon })) ?? assert.fail('nobody has claimed it')
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

test('after a writer dies, another one starts over once the claim has expired, and late writes of the first change nothing', async () => {
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
  assert.equal((await shown(id)).state, 'running', 'it is stored')
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

test('a server that stops releases its export, so that another one starts over immediately', async () => {
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

test('an export that is interrupted five times fails with the remedy; a new one can be requested', async () => {
  const id = await asked()
  await statement(database, 'alter table rejections rename to mislaid')
  for (let begun = 0; begun < 5; begun += 1) {
    await written()
    world.clock.advance(30_000)
  }
  await statement(database, 'alter table mislaid rename to rejections')
  const { state, error, file } = await shown(id)
  assert.deepEqual([state, file], ['failed', null])
  assert.match(error, /5 times.*Create a new one/)
  await exported()
})

test('after 7 days an export has expired: it can no longer be downloaded, and its file is removed', async () => {
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

test('a deleted export disappears immediately, its writer stops, and its file is removed', async () => {
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

test('admins request and read an export; a person with a lesser role and a key of one project do neither', async () => {
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

test('in a suspended workspace a finished export can be read, and only an owner can start one; a closed workspace can be exported too', async () => {
  const id = await asked()
  await written()
  await database.run(sql`update workspaces set suspended_at = now()`)
  const admin = (await aKeyOf(world, database, { ...(await theWorkspace(database)), role: 'admin' })).headers
  assert.equal((await ask(world, 'POST data-export', { headers: admin })).body.reason, 'workspace_suspended')
  assert.equal((await download(id)).status, 200)
  const { 'workspace.ndjson': own } = await exported()
  assert.equal(rowsOf(own).length, 1)
  await database.run(sql`update workspaces set suspended_at = null, closed_at = now()`)
  const { 'projects.ndjson': file } = await exported()
  assert.equal(rowsOf(file).length, 1)
})
