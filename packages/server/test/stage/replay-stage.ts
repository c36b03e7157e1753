import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { decodeId } from '@postroad/contract'
import type { Deps } from '../../src/context.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { advanceReplays } from '../../src/resources/delivery/replays/index.ts'
import { aDestination, behind, post, statement } from './fixtures.ts'
import { aWorld, type Answer, type World } from './harness.ts'

/** Bulk replays on a node where nothing moves by itself: the tests run the pages and read the rows. */
export let still: World
export let database: Database

export type Body = Answer['body']

let datasets = 0

/** Events for a separate destination whose deliveries have reached this state. */
export async function deliveriesIn(
  state: 'failed' | 'cancelled' | 'delivered',
  count: number,
  payload: (index: number) => object = (n) => ({ n }),
) {
  datasets += 1
  const dataset = `d${datasets}`
  const { destination } = await aDestination(still, { url: 'https://example.com/', datasets: [dataset] })
  for (let index = 0; index < count; index += 1)
    assert.equal((await post(`${still.endpoint}/${dataset}`, JSON.stringify(payload(index)))).status, 201)
  const uuid = decodeId('destination', destination.id) ?? ''
  await database.run(
    sql`update deliveries set state = ${state}, next_attempt_at = null, attempt_count = 3, failure_count = 3 where destination_id = ${uuid}`,
  )
  const rows = () =>
    database.many<{ id: string; state: string; next_trigger: string; failure_count: number; at: Date | null }>(sql`
    select id, state, next_trigger, failure_count, next_attempt_at as at from deliveries where destination_id = ${uuid} order by id
  `)
  return {
    dataset,
    destination,
    rows,
    states: async () => (await rows()).map((row) => row.state),
    madeDue: () =>
      database.many<{ id: string; at: Date }>(
        sql`select m.id, m.at from made_due m join deliveries d on d.id = m.id where d.destination_id = ${uuid} order by m.at`,
      ),
  }
}
export const replayOf = async (id: string): Promise<Body> =>
  (await still.admin('GET', `deliveries/replays/${id}`)).body.replay
export const run = (deps: Deps = still.app.deps): Promise<number> => advanceReplays(deps)

/** A file calls this once, before its tests. */
export function onReplayStage(): void {
  before(async () => {
    still = await aWorld({ env: { ROLES: 'web' } })
    database = behind(still)
    await statement(database, 'create table made_due (id uuid, at timestamptz)')
    await statement(database, 'grant all on made_due to public')
    await statement(
      database,
      `create function note_due() returns trigger language plpgsql as $$
       begin insert into made_due values (new.id, new.next_attempt_at); return null; end $$`,
    )
    await statement(
      database,
      `create trigger note_due after update of state on deliveries for each row when (new.next_trigger = 'replay') execute function note_due()`,
    )
  })
  after(async () => {
    await database.close()
    await still.stop()
  })
}
