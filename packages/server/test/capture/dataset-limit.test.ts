import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aName, anIngestKey, aRule, aWebhook, post, statement } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** A project has at most 1,000 datasets, no matter which requests create them and how many run at the same time. */
let world: World
let beside: World
let database: Database

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    beside = await aWorld({ beside: world })
    made.atEnd(() => beside.stop())
  },
  { loops: [] },
)

/** A project with this many datasets, and the credentials that write into it. */
async function aProjectWith(datasets: number): Promise<World & { readonly id: string; readonly key: string }> {
  const { body } = await world.admin('POST', 'projects', { name: aName('project') })
  const id = decodeId('project', body.project.id) ?? ''
  const project: World = {
    ...world,
    admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
  }
  await statement(
    database,
    `insert into datasets (workspace_id, project_id, id, name, created_at) select workspace_id, id, gen_random_uuid(), 'd' || n, now() from projects, generate_series(1, ${datasets}) as n where id = '${id}'`,
  )
  return { ...project, id, key: (await anIngestKey(project)).key }
}

async function countOf(projectId: string): Promise<readonly [datasets: number, submissions: number]> {
  const row = await database.one<{ datasets: number; submissions: number }>(sql`
    select (select count(*) from datasets where project_id = ${projectId}) as datasets,
           (select count(*) from submissions where project_id = ${projectId}) as submissions
  `)
  return [row.datasets, row.submissions]
}

const statuses = (answers: readonly Answer[]): readonly string[] =>
  answers.map(({ status, body }) => `${status} ${body.reason ?? ''}`).toSorted()

test('when fifty simultaneous events on two nodes each name a new dataset, only as many as have room are stored and the others get 400', async () => {
  const { id, key } = await aProjectWith(995)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_unused, at) =>
      post(`${[world, beside][at % 2]?.baseUrl}/v1/ingest/${key}/new${at}`, '{}'),
    ),
  )
  assert.deepEqual(statuses(answers), [
    ...Array.from({ length: 5 }, () => '201 '),
    ...Array.from({ length: 45 }, () => '400 dataset_limit_reached'),
  ])
  assert.deepEqual(await countOf(id), [1_000, 5])
  const refused = answers.find(({ status }) => status === 400)
  assert.match(
    refused?.body.error,
    /^This project has the maximum of 1000 datasets, so "new\d+" cannot be created and nothing was stored\./,
  )
  assert.deepEqual(
    statuses([
      await post(`${world.baseUrl}/v1/ingest/${key}/d1`, '{}'),
      await post(`${beside.baseUrl}/v1/ingest/${key}/d995`, '{}'),
    ]),
    ['201 ', '201 '],
  )
})

test('the limit also applies beside requests that create datasets in the admin API', async () => {
  const project = await aProjectWith(990)
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_unused, at) =>
      at % 2 === 0
        ? project.admin('POST', 'datasets', { name: `new${at}` })
        : post(`${beside.baseUrl}/v1/ingest/${project.key}/new${at}`, '{}'),
    ),
  )
  assert.deepEqual(statuses(answers), [
    ...Array.from({ length: 10 }, () => '201 '),
    ...Array.from({ length: 20 }, () => '400 dataset_limit_reached'),
  ])
  assert.equal((await countOf(project.id))[0], 1_000)
})

test('the datasets of endpoints and rules count as well: in a full project the event that would create one is refused whole', async () => {
  const project = await aProjectWith(999)
  const first = await aWebhook(project, { dataset: 'first' })
  const second = await aWebhook(project, { dataset: 'second' })
  assert.equal((await post(first.public_url, '{}')).status, 201, 'one was left')
  for (const node of [world, beside]) {
    const at = new URL(second.public_url).pathname
    assert.deepEqual(statuses([await post(node.baseUrl + at, '{}')]), ['400 dataset_limit_reached'])
  }
  await aRule(project, { dataset: 'd1' })
  assert.equal((await post(`${world.baseUrl}/v1/ingest/${project.key}`, '{}')).status, 201)
  await aRule(project, { dataset: 'third', conditions: [{ path: 'third', op: 'exists' }] })
  const refused = await post(`${world.baseUrl}/v1/ingest/${project.key}`, '{"third":1}')
  assert.deepEqual([refused.status, refused.body.reason], [400, 'dataset_limit_reached'])
  assert.match(refused.body.error, /"third" cannot be created and nothing was stored/)
  assert.equal(
    (await post(`${world.baseUrl}/v1/ingest/${project.key}`, '{}')).status,
    201,
    'an event that does not match is unaffected',
  )
  assert.deepEqual(await countOf(project.id), [1_000, 3])
  const { body } = await project.admin('GET', 'rejections')
  assert.ok(body.rejections.every(({ reason }: { reason: string }) => reason === 'dataset_limit_reached'))
})
