import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../../src/domain/json/json-text.ts'
import { fireCronTriggers } from '../../src/pipeline/sources/index.ts'
import { aName, aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { asked, payloadsIn, setSuspended, sourceDeps } from '../stage/source-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Cron triggers: the clock makes events, each exactly once. The world has no role `work`, so a test runs the loop itself. */
let world: World
let other: World

onWorldStage(
  async (made) => {
    ;({ world } = made)
    other = await aWorld({ beside: world, env: { ROLES: 'web' } })
    made.atEnd(() => other.stop())
  },
  { env: { ROLES: 'web' }, loops: [] },
)

let datasets = 0

async function aTrigger(members: object = {}): Promise<Answer['body']> {
  datasets += 1
  const given = { name: aName('trigger'), expression: '*/5 * * * *', dataset: `ticks${datasets}`, ...members }
  return (await asked(world, 'POST cron-triggers', given)).cron_trigger
}
const triggerOf = async (id: string): Promise<Answer['body']> =>
  (await asked(world, `GET cron-triggers/${id}`)).cron_trigger
const at = (text: string): number => Date.parse(text)
const iso = (ms: number): string => new Date(ms).toISOString()

/** Moves the clocks of both nodes, and runs the loop. */
async function runAt(ms: number): Promise<void> {
  world.clock.set(ms)
  other.clock.set(ms)
  await fireCronTriggers(sourceDeps(world))
}
const payloads = async (dataset: string): Promise<readonly Answer['body'][]> =>
  (await payloadsIn(world, dataset)).map((text) => JSON.parse(text))
const minutes = (count: number): number => world.clock.now() + count * 60_000

/** The text of a response of the admin API. */
const textOf = async (path: string): Promise<string> => {
  const headers = { authorization: `Bearer ${world.installed.api_key}` }
  return (await fetch(`${world.baseUrl}/admin/api/projects/${world.installed.project.id}/${path}`, { headers })).text()
}

test('no digit of a long number in the static data is lost, in the event and in the trigger', async () => {
  const sent = parseJson('{"account":12345678901234567890}')
  const { id, dataset } = await aTrigger({ data: sent.ok ? sent.value : null })
  await runAt(at((await triggerOf(id)).next_run_at))
  assert.match((await payloadsIn(world, dataset)).join(''), /"data":\{"account":12345678901234567890\}/)
  assert.match(await textOf(`cron-triggers/${id}`), /"account":12345678901234567890/)
})

test('a run files one event with the times of the run and the static data, at the time of the schedule', async () => {
  const { id, dataset } = await aTrigger({ data: { kind: 'report', list: [1, 2] } })
  const due = at((await triggerOf(id)).next_run_at)
  await runAt(due - 1)
  assert.deepEqual(await payloads(dataset), [])
  await runAt(due + 700)
  assert.deepEqual(await payloads(dataset), [
    { trigger_id: id, scheduled_for: iso(due), fired_at: iso(due + 700), data: { kind: 'report', list: [1, 2] } },
  ])
  const trigger = await triggerOf(id)
  assert.deepEqual(
    [trigger.runs, trigger.last_run, trigger.next_run_at, trigger.last_error],
    [1, { scheduled_for: iso(due), fired_at: iso(due + 700) }, iso(due + 300_000), null],
  )
  await runAt(due + 1_000)
  assert.equal((await payloads(dataset)).length, 1, 'not again')
})

test('two processes that run a trigger at the same moment store one event', async () => {
  const { id, dataset } = await aTrigger()
  const due = at((await triggerOf(id)).next_run_at)
  for (const node of [world, other]) node.clock.set(due)
  await Promise.all([world, other, world, other].map((node) => fireCronTriggers(sourceDeps(node))))
  assert.equal((await payloads(dataset)).length, 1)
  assert.equal((await triggerOf(id)).runs, 1)
})

test('the event and the next time are one commit: a process that dies between them leaves the run due', async () => {
  const { id, dataset } = await aTrigger()
  const due = at((await triggerOf(id)).next_run_at)
  world.clock.set(due)
  const dies: typeof world.app.acceptAll = (captured, alongside) =>
    world.app.acceptAll(captured, async (tx, outcomes) => {
      await alongside(tx, outcomes)
      throw new Error('The process died.')
    })
  await fireCronTriggers({ ...sourceDeps(world), acceptAll: dies })
  assert.deepEqual(await payloads(dataset), [])
  assert.equal((await triggerOf(id)).next_run_at, iso(due))
  await runAt(due + 5_000)
  assert.deepEqual(
    (await payloads(dataset)).map((one) => one.scheduled_for),
    [iso(due)],
  )
})

test('after a downtime a trigger runs once for all the runs that it missed', async () => {
  const { id, dataset } = await aTrigger()
  const due = at((await triggerOf(id)).next_run_at)
  await runAt(due + 3_600_000 + 1_000)
  assert.deepEqual(
    (await payloads(dataset)).map((one) => one.scheduled_for),
    [iso(due)],
  )
  assert.equal((await triggerOf(id)).next_run_at, iso(due + 3_900_000))
})

test('a suspended workspace skips its runs, and a reinstatement does not catch up', async () => {
  const { id, dataset } = await aTrigger()
  await setSuspended(world, true)
  for (let count = 0; count < 4; count += 1) {
    // oxlint-disable-next-line no-await-in-loop -- time goes on
    await runAt(minutes(5))
  }
  await setSuspended(world, false)
  await runAt(minutes(0))
  assert.deepEqual(await payloads(dataset), [])
  const next = at((await triggerOf(id)).next_run_at)
  assert.ok(next > world.clock.now())
  await runAt(next)
  assert.equal((await payloads(dataset)).length, 1)
})

test('a paused trigger does not run, and continues with the next time when it is enabled', async () => {
  const { id, dataset } = await aTrigger()
  const paused = await asked(world, `PATCH cron-triggers/${id}`, { enabled: false })
  assert.equal(paused.cron_trigger.next_run_at, null)
  await runAt(minutes(60))
  assert.deepEqual(await payloads(dataset), [])
  const { cron_trigger: enabled } = await asked(world, `PATCH cron-triggers/${id}`, { enabled: true })
  assert.ok(at(enabled.next_run_at) > world.clock.now())
  await runAt(at(enabled.next_run_at))
  assert.equal((await payloads(dataset)).length, 1)
})

test('run now files one event, also while the trigger is paused, and does not move the schedule', async () => {
  const { id, dataset, next_run_at } = await aTrigger()
  await asked(world, `POST cron-triggers/${id}/run`)
  await asked(world, `POST cron-triggers/${id}/run`)
  await runAt(minutes(0) + 1_000)
  const [one, ...others] = await payloads(dataset)
  assert.deepEqual([others.length, one.scheduled_for], [0, one.fired_at])
  const shown = await triggerOf(id)
  assert.deepEqual([shown.next_run_at, shown.run_requested_at, shown.runs], [next_run_at, null, 1])
  await asked(world, `PATCH cron-triggers/${id}`, { enabled: false })
  await asked(world, `POST cron-triggers/${id}/run`)
  await runAt(minutes(0) + 1_000)
  assert.equal((await payloads(dataset)).length, 2)
})

test('lists and searches name the trigger as the origin of its events, and a sent event has none', async () => {
  const { id, dataset, next_run_at } = await aTrigger()
  const { public_url } = await aWebhook(world, { dataset })
  await runAt(at(next_run_at))
  await post(public_url, '{}')
  const origins = [null, { kind: 'cron_trigger', id }]
  for (const path of [`records?dataset=${dataset}`, `search/events?dataset=${dataset}`])
    assert.deepEqual(
      (await asked(world, `GET ${path}`)).records.map(({ origin }: Answer['body']) => origin),
      origins,
      path,
    )
})

test('a change during a run voids the run, which is repeated with the new settings', async () => {
  const { id, dataset } = await aTrigger({ data: 'before' })
  const due = at((await triggerOf(id)).next_run_at)
  world.clock.set(due)
  const late: typeof world.app.acceptAll = async (captured, alongside) => {
    await asked(world, `PATCH cron-triggers/${id}`, { data: 'after' })
    return world.app.acceptAll(captured, alongside)
  }
  await fireCronTriggers({ ...sourceDeps(world), acceptAll: late })
  assert.deepEqual(await payloads(dataset), [])
  await runAt(due + 1_000)
  assert.deepEqual(
    (await payloads(dataset)).map((one) => one.data),
    ['after'],
  )
})

test('a run that is refused is shown with its reason, and the next run happens at its time', async () => {
  const { id } = await aTrigger({ data: 'x'.repeat(60_000) })
  const small = await aWorld({ beside: world, env: { ROLES: 'web', INGEST_BODY_BYTES: '1024' } })
  try {
    const due = at((await triggerOf(id)).next_run_at)
    small.clock.set(due)
    await fireCronTriggers(sourceDeps(small))
    const trigger = await triggerOf(id)
    assert.equal(trigger.last_error.reason, 'payload_too_large')
    assert.deepEqual([trigger.runs, trigger.last_run, trigger.next_run_at], [0, null, iso(due + 300_000)])
  } finally {
    await small.stop()
  }
})

test('the next five runs follow the time zone across a change of the clocks, also for an unsaved expression', async () => {
  world.clock.set(at('2026-03-27T12:00:00Z'))
  const { next_runs } = await asked(world, 'POST cron-triggers/preview', {
    expression: '30 7 * * *',
    time_zone: 'Europe/Berlin',
  })
  assert.deepEqual(next_runs, [
    '2026-03-28T06:30:00.000Z',
    '2026-03-29T05:30:00.000Z',
    '2026-03-30T05:30:00.000Z',
    '2026-03-31T05:30:00.000Z',
    '2026-04-01T05:30:00.000Z',
  ])
})

test('an unusable schedule is refused with a sentence that names the fault', async () => {
  const refusals: readonly [object, RegExp][] = [
    [{ expression: '* * * * * *' }, /6 fields, and must have 5/],
    [{ expression: '@daily' }, /1 field, and must have 5/],
    [{ expression: '61 * * * *' }, /^expression: .*minute.*61/],
    [{ expression: '0 0 30 2 *' }, /would never run/],
    [{ expression: '0 0 * * *', time_zone: 'Mars/Olympus' }, /"Mars\/Olympus" is not a time zone/],
  ]
  for (const [schedule, sentence] of refusals) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, body } = await world.admin('POST', 'cron-triggers/preview', schedule)
    assert.equal(status, 400, JSON.stringify(schedule))
    assert.match(body.error, sentence)
  }
})

test('the trigger of a deleted project does not run', async () => {
  const { project } = await asked(world, 'POST projects', { name: aName('project') })
  const path = `projects/${project.id}/cron-triggers`
  const { cron_trigger: trigger } = await asked(world, `POST ${path}`, {
    name: 'Gone',
    expression: '*/5 * * * *',
    dataset: 'gone',
  })
  await asked(world, `DELETE projects/${project.id}`)
  await runAt(at(trigger.next_run_at))
  assert.deepEqual(await payloads('gone'), [])
})
