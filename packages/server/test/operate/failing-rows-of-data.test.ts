import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import type { Log } from '../../src/platform/log.ts'
import { createLearner } from '../../src/resources/capture/dataset-schemas/index.ts'
import { createExpirer } from '../../src/resources/capture/datasets/expire/index.ts'
import { auditSignatures } from '../../src/resources/capture/rejections/index.ts'
import { createIndexer } from '../../src/resources/capture/search-index/index.ts'
import { pruneAudit } from '../../src/resources/workspace/audit/index.ts'
import { createExporter } from '../../src/resources/workspace/data-export/index.ts'
import { finishDeletions } from '../../src/resources/workspace/deletions/index.ts'
import { aDestination, aName, aWebhook, post, signedIn, statement } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { aReadyExport, ask, aWorkspace, theWorkspace, type Headers } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Loops over stored data: a row that the database refuses stops none of the others, is logged, and is counted. */
let world: World
let database: Database
const own = { id: '', projectId: '' }
const other = { id: '', projectId: '', userId: '' }
/** Sessions end while the clock moves. */
const asOther = (): Promise<Headers> => signedIn(world, { workspaceId: other.id, userId: other.userId })
const warned: (readonly [string, unknown])[] = []
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (event, fields) => void warned.push([event, fields?.['id']]),
  error: () => undefined,
}

const DAY_MS = 86_400_000

// No loop runs by itself: each test runs the loop that it is about.
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    await statement(
      database,
      'create function refuse_row() returns trigger language plpgsql as $$ begin raise check_violation; end $$',
    )
    const first = await theWorkspace(database)
    Object.assign(own, { id: first.workspaceId, projectId: first.defaultProjectId })
    const second = await aWorkspace(world, database, 'patient')
    Object.assign(other, { id: second.workspaceId, projectId: second.defaultProjectId, userId: second.userId })
  },
  { env: { ROLES: 'web' }, log, loops: [] },
)

/** Returns the number of rows that fail in `work` while the database refuses `change` (`insert on table`) of the rows that `when` selects. */
async function refusing(
  change: string,
  when: string,
  work: () => Promise<{ readonly failed: number }>,
): Promise<number> {
  const [, table = ''] = change.split(' on ')
  await statement(
    database,
    `create trigger refuse_row before ${change} for each row when (${when}) execute function refuse_row()`,
  )
  const { failed } = await work()
  await statement(database, `drop trigger refuse_row on ${table}`)
  return failed
}

const datasetName = (): string => aName('set').replaceAll(/[^A-Za-z0-9_]/g, '_')
const uuidsOf = async (query: ReturnType<typeof sql>): Promise<readonly string[]> =>
  (await database.many<{ id: string }>(query)).map(({ id }) => id)

const indexed = () => uuidsOf(sql`select distinct project_id as id from search_blocks`)
const audited = () => uuidsOf(sql`select workspace_id as id from audit_rows where action = 'ingest_signature_rejected'`)

/** A dataset with one record. */
async function aDataset(): Promise<{ readonly id: string; readonly name: string; readonly uuid: string }> {
  const name = datasetName()
  const { id } = (await world.admin('POST', 'datasets', { name })).body.dataset
  const { public_url: url } = await aWebhook(world, { dataset: name })
  assert.equal((await post(url, '{"n":1}')).status, 201)
  return { id, name, uuid: decodeId('dataset', id) ?? '' }
}

test('a dataset whose schema cannot be stored delays the schema of no other dataset', async () => {
  const [bad, good] = [await aDataset(), await aDataset()]
  world.clock.advance(61_000)
  const failed = await refusing('insert on dataset_schemas', `new.dataset_id = '${bad.uuid}'`, () =>
    createLearner(world.app.deps)(),
  )
  const learned = await uuidsOf(sql`select dataset_id as id from dataset_schemas`)
  assert.deepEqual([failed, learned.includes(bad.uuid), learned.includes(good.uuid)], [1, false, true])
  assert.ok(warned.some(([event, id]) => event === 'dataset.not_learned' && id === bad.id))
  assert.equal((await createLearner(world.app.deps)()).failed, 0)
  assert.ok((await uuidsOf(sql`select dataset_id as id from dataset_schemas`)).includes(bad.uuid))
})

test('a dataset whose old records cannot be erased delays no other dataset', async () => {
  const [bad, good] = [await aDataset(), await aDataset()]
  for (const { id } of [bad, good]) assert.equal((await world.admin('DELETE', `datasets/${id}`)).status, 200)
  const left = () =>
    uuidsOf(sql`select distinct dataset as id from records where dataset = any (${[bad.name, good.name]})`)
  const failed = await refusing('delete on records', `old.dataset = '${bad.name}'`, () =>
    createExpirer(world.app.deps)(),
  )
  assert.deepEqual([failed, await left()], [1, [bad.name]])
  assert.ok(warned.some(([event]) => event === 'dataset.not_expired'))
  assert.equal((await createExpirer(world.app.deps)()).failed, 0)
  assert.deepEqual(await left(), [])
})

/** An event in the Default project of the other workspace. */
async function elsewhere(body: object): Promise<string> {
  const path = `projects/${encodeId('project', other.projectId)}`
  const made = await ask(world, `POST ${path}/webhooks`, {
    headers: await asOther(),
    body: { name: aName('hook'), dataset: datasetName(), ...body },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  return made.body.webhook.public_url
}

test('a project that cannot be indexed for searches delays no other project', async () => {
  await aDataset()
  assert.equal((await post(await elsewhere({}), '{"n":1}')).status, 201)
  world.clock.advance(61_000)
  const run = createIndexer(world.app.deps, 1)
  const failed = await refusing('insert on search_blocks', `new.project_id = '${own.projectId}'`, run)
  assert.deepEqual([failed, await indexed()], [1, [other.projectId]])
  assert.ok(warned.some(([event, id]) => event === 'search.not_indexed' && id === encodeId('project', own.projectId)))
  world.clock.advance(10_000)
  assert.equal((await run()).failed, 0, 'the loop remembers the project that failed')
  assert.deepEqual((await indexed()).toSorted(), [own.projectId, other.projectId].toSorted())
})

test('a project whose refused signatures cannot be audited delays no other project', async () => {
  const verification = { scheme: 'code_host', secret: 'secret' }
  const { public_url: url } = await aWebhook(world, { verification })
  for (const to of [url, await elsewhere({ verification })]) assert.equal((await post(to, '{}')).status, 401)
  world.clock.advance(2_000)
  await world.run('rejections.flush')
  const failed = await refusing('update on rejections', `new.project_id = '${own.projectId}'`, () =>
    auditSignatures(world.app.deps),
  )
  assert.deepEqual([failed, await audited()], [1, [other.id]])
  assert.equal((await auditSignatures(world.app.deps)).failed, 0)
  assert.deepEqual((await audited()).toSorted(), [own.id, other.id].toSorted())
})

test('a file that cannot be swept delays neither the other files nor the requested exports', async () => {
  const bad = decodeId('dataExport', await aReadyExport(world, database, { workspaceId: own.id })) ?? ''
  const good = decodeId('dataExport', await aReadyExport(world, database, { workspaceId: own.id })) ?? ''
  world.clock.advance(2 * DAY_MS)
  const headers = await asOther()
  const { body } = await ask(world, 'POST data-export', { headers })
  const failed = await refusing('delete on data_export_chunks', `old.export_id = '${bad}'`, () =>
    createExporter(world.app.deps).run(),
  )
  assert.equal(failed, 1)
  assert.deepEqual(await uuidsOf(sql`select id from data_exports where swept_at is not null`), [good])
  const written = await ask(world, `GET data-export/${body.data_export.id}`, { headers })
  assert.equal(written.body.data_export.state, 'ready')
  assert.equal((await createExporter(world.app.deps).run()).failed, 0)
})

test('an audit log that cannot be pruned delays no other audit log', async () => {
  await database.run(sql`update workspaces set plan = 'free'`)
  world.clock.advance(1_000 * DAY_MS)
  const before = new Date(world.clock.now() - DAY_MS)
  const left = () => uuidsOf(sql`select distinct workspace_id as id from audit_rows where at < ${before}`)
  assert.deepEqual((await left()).toSorted(), [own.id, other.id].toSorted())
  const failed = await refusing('delete on audit_rows', `old.workspace_id = '${own.id}'`, () =>
    pruneAudit(world.app.deps),
  )
  assert.deepEqual([failed, await left()], [1, [own.id]])
  assert.equal((await pruneAudit(world.app.deps)).failed, 0)
  assert.deepEqual(await left(), [])
})

test('a part of a loop that fails ends none of the parts after it', async () => {
  const { destination } = await aDestination(world, { url: 'https://example.com/' })
  const { deletion } = (await world.admin('DELETE', `destinations/${destination.id}`)).body
  assert.equal((await world.admin('POST', `deletions/${deletion.id}/restore`)).status, 200)
  await database.run(sql`update deletions set resuming = true`)
  await statement(
    database,
    'create trigger refuse_all before delete on deletions for each statement execute function refuse_row()',
  )
  await assert.rejects(finishDeletions(world.app.deps), { code: '23514' })
  await statement(database, 'drop trigger refuse_all on deletions')
  assert.deepEqual(await uuidsOf(sql`select id from deletions where resuming`), [])
})
