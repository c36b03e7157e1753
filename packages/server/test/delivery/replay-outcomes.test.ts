import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { countForgottenOutcomes, countOutcomesOf } from '../../src/resources/delivery/deliveries/index.ts'
import { still, database, type Body, deliveriesIn, replayOf, run, onReplayStage } from '../stage/replay-stage.ts'

/** The results of the deliveries that a replay sent again. */
onReplayStage()

const begin = async (filter: object, more: object = {}): Promise<Body> => {
  const answer = await still.admin('POST', 'replays', { filter, ...more })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map((row) => row.id)

/** Ends the deliveries that a replay made due, each in its state of `ends`. */
async function endAs(destinationId: string, ends: readonly ('delivered' | 'failed' | 'cancelled')[]): Promise<void> {
  const rows = await database.many<{ id: string }>(
    sql`select id from deliveries where destination_id = ${decodeId('destination', destinationId) ?? ''} and state = 'retrying' order by id`,
  )
  for (const [index, state] of ends.entries())
    await database.run(
      sql`update deliveries set state = ${state}, next_attempt_at = null where id = ${rows[index]?.id ?? null}`,
    )
}
const outcomeOf = async (id: string): Promise<Body> => (await replayOf(id)).outcome

test('a replay counts the results of its deliveries as they end, and the history shows the same counts', async () => {
  const those = await deliveriesIn('failed', 6)
  const { replay } = await begin({ destination_id: those.destination.id }, { rate_per_second: 1_000 })
  const none = { delivered: 0, failed: 0, cancelled: 0, under_way: 0, unknown: 0 }
  assert.deepEqual(replay.outcome, none)
  await run()
  assert.deepEqual(await outcomeOf(replay.id), { ...none, under_way: 6 })
  await endAs(those.destination.id, ['delivered', 'delivered', 'failed'])
  await run()
  assert.deepEqual(await outcomeOf(replay.id), { ...none, delivered: 2, failed: 1, under_way: 3 })
  await run()
  assert.deepEqual(await outcomeOf(replay.id), { ...none, delivered: 2, failed: 1, under_way: 3 }, 'each counts once')
  await endAs(those.destination.id, ['delivered', 'cancelled'])
  await run()
  const ended = await replayOf(replay.id)
  assert.deepEqual(ended.outcome, { ...none, delivered: 3, failed: 1, cancelled: 1, under_way: 1 })
  const { replays } = (await still.admin('GET', 'replays?limit=1')).body
  assert.deepEqual(replays[0], ended)
})

test('the result of a replay does not change when its deliveries are replayed again, by another replay or one by one', async () => {
  const those = await deliveriesIn('failed', 4)
  const first = (await begin({ destination_id: those.destination.id }, { rate_per_second: 1_000 })).replay
  await run()
  // The deliveries end, and are sent again before the replay has counted their results.
  await endAs(those.destination.id, ['failed', 'failed', 'failed', 'delivered'])
  const [row] = await those.rows()
  assert.equal((await still.admin('POST', `deliveries/${encodeId('delivery', row?.id ?? '')}/replay`)).status, 200)
  const second = (await begin({ destination_id: those.destination.id }, { rate_per_second: 1_000 })).replay
  await run()
  const none = { cancelled: 0, under_way: 0, unknown: 0 }
  assert.deepEqual(await outcomeOf(first.id), { ...none, delivered: 1, failed: 3 })
  assert.deepEqual(await outcomeOf(second.id), { ...none, delivered: 0, failed: 0, under_way: 2 })
  await endAs(those.destination.id, ['delivered', 'delivered'])
  await run()
  assert.deepEqual(await outcomeOf(first.id), { ...none, delivered: 1, failed: 3 }, 'as before')
  assert.deepEqual(await outcomeOf(second.id), { ...none, delivered: 2, failed: 0 })
})

test('a page counts the results of the replay before it in the same commit', async () => {
  const those = await deliveriesIn('failed', 2)
  const first = (await begin({ destination_id: those.destination.id }, { rate_per_second: 1_000 })).replay
  await run()
  const second = (await begin({ destination_id: those.destination.id, state: ['failed', 'delivered'] })).replay
  assert.equal(second, null, 'nothing has ended yet')
  await endAs(those.destination.id, ['failed', 'delivered'])
  const both = (await begin({ destination_id: those.destination.id, state: ['failed', 'delivered'] })).replay
  const all = ids(await those.rows())
  const { installed } = still
  const at = {
    workspaceId: decodeId('workspace', (await still.admin('GET', 'me')).body.workspace.id) ?? '',
    projectId: decodeId('project', installed.project.id) ?? '',
  }
  assert.equal(await countOutcomesOf(database, { ...at, ids: all }), 2)
  assert.equal(await countOutcomesOf(database, { ...at, ids: all }), 0, 'each once')
  await run()
  assert.deepEqual(await outcomeOf(first.id), { delivered: 1, failed: 1, cancelled: 0, under_way: 0, unknown: 0 })
  assert.equal((await outcomeOf(both.id)).under_way, 2)
})

test('deliveries that are deleted before they end are counted as unknown once the replay has ended', async () => {
  const those = await deliveriesIn('failed', 3)
  const { replay } = await begin({ destination_id: those.destination.id }, { rate_per_second: 1_000 })
  await run()
  await endAs(those.destination.id, ['delivered'])
  await run()
  await countForgottenOutcomes(database)
  assert.equal((await outcomeOf(replay.id)).under_way, 2, 'they may still end')
  await database.run(
    sql`delete from deliveries where destination_id = ${decodeId('destination', those.destination.id) ?? ''} and state = 'retrying'`,
  )
  await countForgottenOutcomes(database)
  assert.deepEqual(await outcomeOf(replay.id), { delivered: 1, failed: 0, cancelled: 0, under_way: 0, unknown: 2 })
})
