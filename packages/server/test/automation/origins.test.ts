import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { fromOrigin, type Made } from '../../src/pipeline/capture/from-origin.ts'
import { sql } from '../../src/platform/db.ts'
import { aDestination, aName, submissionOf } from '../stage/fixtures.ts'
import { aWorld, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Events that no sender sent take the road of every event: 201 of a webhook and the commit of a source mean the same. */
let world: World
let sink: Sink
let at: { workspaceId: string; projectId: string }

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
    at = {
      workspaceId: decodeId('workspace', world.installed.workspace.id) ?? '',
      projectId: decodeId('project', world.installed.project.id) ?? '',
    }
  },
  { loops: [] },
)

const idOf = (): string => world.app.deps.uuid()

const made = (more: Partial<Made> = {}): Made => ({
  ...at,
  dataset: 'readings',
  origin: { kind: 'source', id: idOf() },
  text: '{"value":12345678901234567890}',
  receivedAt: world.clock.now(),
  ...more,
})

const countOf = async (table: 'submissions' | 'workflow_instances'): Promise<number> =>
  (
    await world.app.deps.database.one<{ n: number }>(
      table === 'submissions'
        ? sql`select count(*)::int as n from submissions`
        : sql`select count(*)::int as n from workflow_instances`,
    )
  ).n

/** An active workflow as its room stores it, and the id of it. */
async function aWorkflow({ dataset, conditions = [] }: { dataset: string; conditions?: unknown[] }): Promise<string> {
  const id = idOf()
  const now = new Date(world.clock.now())
  const name = aName('workflow')
  await world.app.deps.database.run(sql`
    insert into workflows (workspace_id, project_id, id, name, slug, active, version, entry_dataset, entry_conditions, created_at, updated_at)
    values (${at.workspaceId}, ${at.projectId}, ${id}, ${name}, ${name}, true, 3, ${dataset}, ${JSON.stringify(conditions)}, ${now}, ${now})
  `)
  await world.app.deps.database.run(
    sql`update projects set config_version = config_version + 1 where id = ${at.projectId}`,
  )
  world.app.deps.configChanged(at.projectId)
  return id
}

test('an event of a source is stored with its origin and delivered like any other', async () => {
  await aDestination(world, { url: sink.url, datasets: ['readings'] })
  const event = made()
  const [outcome] = await world.app.acceptAll([fromOrigin(event)], async () => undefined)
  assert.equal(outcome?.kind, 'stored')
  const stored = await submissionOf(world, encodeId('submission', outcome.event.submissionId))
  assert.deepEqual(stored.origin, { kind: 'source', id: encodeId('source', event.origin.id) })
  assert.deepEqual([stored.webhook_id, stored.ingest_key_id, stored.source_ip], [null, null, null])
  await world.idle()
  assert.match(sink.received.at(-1)?.body ?? '', /"data":\{"value":12345678901234567890\}/)
})

test('the position of a source and its events are one commit: if the position fails, no event is stored', async () => {
  const stored = await countOf('submissions')
  await assert.rejects(
    world.app.acceptAll([fromOrigin(made()), fromOrigin(made())], async (tx) => {
      await tx.run(sql`update projects set config_version = config_version`)
      throw new Error('The position was lost.')
    }),
    /The position was lost/,
  )
  assert.equal(await countOf('submissions'), stored)
})

test('an event that cannot be stored does not stop the others, and its origin learns why', async () => {
  const outcomes = await world.app.acceptAll(
    [made({ text: '{' }), made({ dataset: 'no such name' }), made()].map(fromOrigin),
    async () => undefined,
  )
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === 'rejected' ? outcome.reason : outcome.kind)),
    ['invalid_body', 'invalid_dataset', 'stored'],
  )
})

test('more large events at once than a workspace may have waiting for threads are all stored', async () => {
  const node = await aWorld({ beside: world, heavyLimits: { waitingMax: 1, waitMs: -1 } })
  try {
    const text = JSON.stringify({ value: 'x'.repeat(70_000) })
    const outcomes = await node.app.acceptAll(
      Array.from({ length: 5 }, () => fromOrigin(made({ text }))),
      async () => undefined,
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['stored', 'stored', 'stored', 'stored', 'stored'],
    )
  } finally {
    await node.stop()
  }
})

test('a repeat of the same origin with the same key is stored once', async () => {
  const event = made({ idempotencyKey: 'row-7' })
  const again = { ...event, receivedAt: event.receivedAt + 1 }
  const kinds: string[] = []
  for (const one of [event, again, made({ idempotencyKey: 'row-7' })]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const [outcome] = await world.app.acceptAll([fromOrigin(one)], async () => undefined)
    kinds.push(outcome?.kind ?? '')
  }
  assert.deepEqual(kinds, ['stored', 'duplicate', 'stored'])
})

test('the commit of a record starts one instance of each workflow that matches with strict equality', async () => {
  const numbers = await aWorkflow({ dataset: 'orders', conditions: [{ path: 'total', equals: 5 }] })
  const others = await aWorkflow({ dataset: 'orders', conditions: [{ path: 'total', equals: '5' }] })
  await aWorkflow({ dataset: 'elsewhere' })
  const [outcome] = await world.app.acceptAll(
    [fromOrigin(made({ dataset: 'orders', text: '{"total":5}' }))],
    async () => undefined,
  )
  assert.equal(outcome?.kind, 'stored')
  const { decision } = await submissionOf(world, encodeId('submission', outcome.event.submissionId))
  const considered = decision.starts.map((one: { id: string; reason: string }) => [one.id, one.reason])
  assert.deepEqual(considered, [
    [encodeId('workflow', numbers), 'matched'],
    [encodeId('workflow', others), 'condition_failed'],
  ])
  const rows = await world.app.deps.database.many<{ workflow_id: string; version: number; record_id: string }>(
    sql`select workflow_id, version, record_id from workflow_instances where dataset = 'orders'`,
  )
  assert.deepEqual([...rows], [{ workflow_id: numbers, version: 3, record_id: outcome.event.records[0]?.id }])
})

test('beyond five hops a record is stored, starts nothing, and its decision reports this', async () => {
  await aWorkflow({ dataset: 'loops' })
  const started = await countOf('workflow_instances')
  const outcomes = await world.app.acceptAll(
    [5, 6, 7].map((hops) => fromOrigin(made({ dataset: 'loops', hops }))),
    async () => undefined,
  )
  const reasons = await Promise.all(
    outcomes.map(async (one) => {
      if (one.kind !== 'stored') return one.kind
      const { decision } = await submissionOf(world, encodeId('submission', one.event.submissionId))
      return decision.starts[0].reason
    }),
  )
  assert.deepEqual(reasons, ['matched', 'too_many_hops', 'too_many_hops'])
  assert.equal(await countOf('workflow_instances'), started + 1)
})
