import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { call, created, database, enterPlacesWith, home, leavePlaces, world } from '../stage/admin-asking.ts'
import { anEventIn } from '../stage/example-resources.ts'

/** Where instances are found, and how long they are stored. */
// No engine runs, so that instances stay as the tests left them.
before(() => enterPlacesWith({ ROLES: 'web,deliver' }))
after(leavePlaces)

const STEPS = [{ id: 'later', type: 'delay', seconds: 60 }]
const DAY_MS = 86_400_000

const idOf = (one: { instance: { id: string } }) => decodeId('workflowInstance', one.instance.id) ?? ''

async function anInstance() {
  const { workflow } = await created(home, 'workflows', { entry_dataset: 'idle', steps: STEPS })
  const event = await anEventIn(home)
  const record_id = event.records[0].id
  const { instance } = (await call(home, `POST workflows/${workflow.id}/run`, { body: { record_id } })).body
  return { workflow, event, instance, record_id }
}

test('the story of an event shows the instances that its records started, and an instance leads to its event', async () => {
  const { workflow, event, instance, record_id } = await anInstance()
  for (const id of [event.id, record_id, instance.id, workflow.id]) {
    const { body } = await call(home, `GET search/correlate/${id}`)
    assert.deepEqual(
      body.workflow_instances.map((one: { id: string }) => one.id),
      [instance.id],
    )
    assert.equal(body.records[0].id, record_id)
  }
  const { subject } = (await call(home, `GET search/correlate/${instance.id}`)).body
  assert.deepEqual(subject, { kind: 'workflowInstance', id: instance.id, name: workflow.name })
})

test('an ended instance is deleted with its steps when the retention of the plan ends, and its version after it', async () => {
  const [old, fresh, open] = [await anInstance(), await anInstance(), await anInstance()]
  const { retention_days: days } = world.app.deps.plans['self_hosted'] ?? { retention_days: 30 }
  const ended = (one: { instance: { id: string } }, ms: number) =>
    database.run(sql`
      update workflow_instances
         set state = 'completed', due_at = null, ended_at = ${new Date(world.clock.now() - ms)}
       where id = ${idOf(one)}
    `)
  await ended(old, (days + 1) * DAY_MS)
  await ended(fresh, (days - 1) * DAY_MS)
  await database.run(sql`
    insert into workflow_step_runs (workspace_id, project_id, instance_id, seq, step_id, type, attempt, state, started_at)
    select workspace_id, project_id, id, 0, 'later', 'delay', 1, 'succeeded', now() from workflow_instances where id = ${idOf(old)}
  `)
  await call(home, `DELETE workflows/${old.workflow.id}`)
  await database.run(sql`update workflow_versions set created_at = created_at - interval '2 hours'`)
  await runUpkeep(world.app.deps)
  const left = await database.many<{ id: string }>(sql`select id from workflow_instances`)
  const ids = left.map(({ id }) => id)
  assert.deepEqual(
    [old, fresh, open].map((one) => ids.includes(idOf(one))),
    [false, true, true],
  )
  const { steps } = await database.one<{ steps: number }>(
    sql`select count(*)::int as steps from workflow_step_runs where instance_id = ${idOf(old)}`,
  )
  assert.equal(steps, 0)
  const versions = await database.many<{ workflow_id: string }>(sql`select workflow_id from workflow_versions`)
  const versioned = versions.map(({ workflow_id }) => workflow_id)
  assert.deepEqual(
    [old, fresh].map((one) => versioned.includes(decodeId('workflow', one.workflow.id) ?? '')),
    [false, true],
  )
})
