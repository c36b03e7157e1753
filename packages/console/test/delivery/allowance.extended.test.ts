import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../../server/src/platform/db.ts'
import { aDestination, behind, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** The allowance of the team plan. */
const ALLOWANCE = 2_500_000

let stage: Stage
let sink: Sink
let database: Database

// Registered before the stage, whose server uses this database.
after(() => database?.close())
onStage(async (made) => {
  ;({ stage, sink } = made)
  database = behind(stage.world)
  sink.answer({ status: 500, body: 'no' })
  await aDestination(stage.world, { name: 'ledger', url: sink.url, retry: { schedule_seconds: [0] } })
  for (const body of ['{"n":1}', '{"n":2}']) assert.equal((await post(stage.world.endpoint, body)).status, 201)
  await stage.world.idle()
})

async function withLeft(left: number): Promise<void> {
  const { clock, installed, app } = stage.world
  await database.run(sql`update workspaces set plan = 'team'`)
  await database.run(sql`
    insert into monthly_usage (workspace_id, month, events, deliveries)
    select id, ${`${new Date(clock.now()).toISOString().slice(0, 7)}-01`}::date, 2, ${ALLOWANCE - left}::bigint from workspaces
    on conflict (workspace_id, month) do update set deliveries = excluded.deliveries
  `)
  app.deps.configChanged(decodeId('project', installed.project.id) ?? '')
}

test(
  'the plan of a replay shows the remaining allowance, and a replay cannot start without any; the overview shows the use of the month',
  { skip: noBrowser },
  async () => {
    await withLeft(1)
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('deliveries?state=failed'))
    await page.getByRole('button', { name: 'Replay in bulk' }).click()
    await page.getByText(/^Only 1 delivery is left this month\. The replay pauses/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Send 2 again' }).isDisabled(), false)
    await withLeft(0)
    await page.goto(stage.url('deliveries?state=failed'))
    await page.getByRole('button', { name: 'Replay in bulk' }).click()
    await page.getByText(/^The monthly delivery quota is used up./).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Send 2 again' }).isDisabled(), true)
    await page.goto(stage.url('overview'))
    await page.getByText('All 2,500,000 are used up.').waitFor()
    await page.getByText(/^2 of 500,000\./).waitFor()
    await seen.close()
  },
)
