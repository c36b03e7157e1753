import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { createForwards } from '../../src/pipeline/forward/index.ts'
import type { Deps } from '../../src/context.ts'
import { sql } from '../../src/platform/db.ts'
import { claimCursors } from '../../src/resources/serving/forwarders/cursors/queries.ts'
import { insertProject } from '../../src/resources/workspace/projects/index.ts'
import { insertWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aName, statement } from '../stage/fixtures.ts'
import { onForwarderStage } from '../stage/forwarder-stage.ts'
import type { Answer } from '../stage/harness.ts'
import { asked, placeOf, setSuspended } from '../stage/source-stage.ts'

/** Receivers that fail, processes that die, and settings that change while a forwarder runs. */
const stage = onForwarderStage()
const { aForwarder, forwarderOf, run, events, receiver } = stage

const LOGS = { signals: ['logs'], content: ['submissions'] }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const idsOf = (answers: readonly Answer['body'][]): readonly string[] => answers.map(({ id }) => id)
/** The submissions that the receiver accepted, in order, with repeats. */
const received = (): readonly unknown[] =>
  receiver()
    .logs()
    .map(({ attributes }) => attributes['postroad.submission.id'])

/** The process, with another client for outgoing requests. */
function depsWith(request: (send: Deps['outbound']['request']) => Deps['outbound']['request']): Deps {
  const { deps } = stage.world().app
  return { ...deps, outbound: { ...deps.outbound, request: request(deps.outbound.request) } }
}

test('nothing is lost while a receiver is unavailable for days, and the state reports it', async () => {
  const { id } = await aForwarder(LOGS)
  receiver().answer({ status: 503 })
  const sent: Answer['body'][] = []
  for (let day = 0; day < 5; day += 1) {
    // oxlint-disable-next-line no-await-in-loop -- day after day
    sent.push(...(await events(3)))
    // oxlint-disable-next-line no-await-in-loop -- day after day
    await run(DAY_MS)
  }
  const failing = await forwarderOf(id)
  assert.equal(failing.state, 'failing')
  assert.equal(failing.progress.logs.failures, 5)
  assert.match(failing.progress.logs.last_error.error, /503/)
  assert.ok(failing.progress.logs.lag_seconds >= (5 * DAY_MS) / 1_000)
  receiver().answer({ status: 200 })
  await run(HOUR_MS)
  assert.deepEqual(received(), idsOf(sent))
  const well = await forwarderOf(id)
  assert.deepEqual([well.state, well.progress.logs.lag_seconds, well.progress.logs.expired], ['active', 0, 0])
})

test('the pauses after failures grow to 15 minutes', async () => {
  const { id } = await aForwarder(LOGS)
  receiver().answer({ status: 500 })
  await events(1)
  const pauses: number[] = []
  for (let failures = 0; failures < 9; failures += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one try after the other
    await run(failures === 0 ? 5_000 : 900_000)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { next_try_at, last_error } = (await forwarderOf(id)).progress.logs
    pauses.push((Date.parse(next_try_at) - Date.parse(last_error.at)) / 1_000)
  }
  assert.deepEqual(pauses, [10, 20, 40, 80, 160, 320, 640, 900, 900])
})

test('Retry-After of a 429 is honored', async () => {
  const { id } = await aForwarder(LOGS)
  receiver().answer({ status: 429, headers: { 'retry-after': '600' } })
  await events(1)
  await run()
  await run(500_000)
  assert.equal(receiver().requests.length, 1)
  receiver().answer({ status: 200 })
  await run(100_000)
  assert.equal(received().length, 1)
  assert.equal((await forwarderOf(id)).state, 'active')
})

test('a batch that is too large is split until the receiver accepts it', async () => {
  const { id } = await aForwarder(LOGS)
  receiver().answer(({ logs }) => ({ status: logs.length > 3 ? 413 : 200 }))
  const sent = await events(10)
  await run()
  assert.deepEqual(received(), idsOf(sent))
  assert.equal((await forwarderOf(id)).progress.logs.refused, 0)
})

test('a record that is too large by itself is counted as refused, and the others are accepted', async () => {
  const { id } = await aForwarder(LOGS)
  const sent = await events(6)
  const large = sent[2].id
  receiver().answer(({ logs }) => ({
    status: logs.some(({ attributes }) => attributes['postroad.submission.id'] === large) ? 413 : 200,
  }))
  await run()
  assert.deepEqual(
    received(),
    idsOf(sent).filter((one) => one !== large),
  )
  const { refused, refused_text, sent: count, lost_at } = (await forwarderOf(id)).progress.logs
  assert.deepEqual([refused, count], [1, 5])
  assert.match(refused_text, /413/)
  assert.ok(lost_at)
})

test('one record that the receiver cannot read does not stop the others', async () => {
  const { id } = await aForwarder(LOGS)
  const sent = await events(8)
  const bad = sent[5].id
  receiver().answer(({ logs }) => ({
    status: logs.some(({ attributes }) => attributes['postroad.submission.id'] === bad) ? 400 : 200,
  }))
  await run()
  assert.deepEqual(
    received(),
    idsOf(sent).filter((one) => one !== bad),
  )
  assert.equal((await forwarderOf(id)).progress.logs.refused, 1)
})

test('while a receiver answers everything with 400 nothing is given up, and corrected settings send everything', async () => {
  const { id } = await aForwarder(LOGS)
  const sent = await events(5)
  receiver().answer(({ headers }) => ({ status: headers['x-dataset'] === undefined ? 400 : 200 }))
  await run()
  await run(HOUR_MS)
  const failing = await forwarderOf(id)
  assert.deepEqual([failing.state, failing.progress.logs.refused], ['failing', 0])
  await asked(stage.world(), `PATCH forwarders/${id}`, { headers: { 'X-Dataset': 'events' } })
  await run(0)
  assert.deepEqual(received(), idsOf(sent))
})

for (const encoding of ['json', 'protobuf'])
  test(`a partial success by ${encoding} is counted with its reason, and nothing is sent again`, async () => {
    const { id } = await aForwarder({ ...LOGS, encoding })
    await events(5)
    receiver().answer({ status: 200, rejected: { count: 2, text: 'Die Größe ist falsch.' } })
    await run()
    receiver().answer({ status: 200 })
    await run()
    assert.equal(received().length, 5)
    const { sent, refused, refused_text } = (await forwarderOf(id)).progress.logs
    assert.deepEqual([sent, refused, refused_text], [3, 2, 'Die Größe ist falsch.'])
  })

test('a receiver that does not answer in time is tried again', async () => {
  const { id } = await aForwarder(LOGS)
  const sent = await events(2)
  receiver().answer('never')
  stage.world().clock.advance(5_000)
  await createForwards(stage.world().app.deps, 'impatient', 300).run()
  const { state, progress } = await forwarderOf(id)
  assert.deepEqual([state, progress.logs.last_error.reason], ['failing', 'timeout'])
  receiver().answer({ status: 200 })
  await run(HOUR_MS)
  assert.deepEqual(received(), idsOf(sent))
})

test('a process that dies between the answer and the commit repeats one batch, and changes nothing when it comes back', async () => {
  const { id } = await aForwarder(LOGS)
  const sent = await events(4)
  const comesBack = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const dying = depsWith((send) => async (request) => {
    const result = await send(request)
    answered.resolve()
    await comesBack.promise
    return result
  })
  stage.world().clock.advance(5_000)
  const process = createForwards(dying, 'dying')
  const dead = process.run()
  await answered.promise
  // A process that is not stopped claims due work each second.
  process.stop()
  await run(0)
  assert.equal(receiver().requests.length, 1, 'its lease has not expired')
  const later = await events(1)
  await run(61_000)
  assert.deepEqual(received(), [...idsOf(sent), ...idsOf(sent), ...idsOf(later)])
  const before = await forwarderOf(id)
  comesBack.resolve()
  await dead
  assert.deepEqual((await forwarderOf(id)).progress.logs.sent, before.progress.logs.sent)
  await run()
  assert.equal(received().length, 9, 'nothing is sent again')
})

test('the receivers of one workspace take only a part of the places, and another workspace comes first', async () => {
  const { database, uuid } = stage.world().app.deps
  await aForwarder(LOGS)
  await aForwarder(LOGS)
  const home = placeOf(stage.world())
  const now = new Date(stage.world().clock.now() + 60_000)
  const [workspaceId, projectId] = [uuid(), uuid()]
  await insertWorkspace(database, { id: workspaceId, slug: aName('turn'), name: 'Turn', now })
  await insertProject(database, { workspaceId, id: projectId, slug: 'turn', name: 'Turn', isDefault: true, now })
  for (const table of ['forwarders', 'forwarder_cursors'])
    // oxlint-disable-next-line no-await-in-loop -- a cursor refers to its forwarder
    await statement(
      database,
      `insert into ${table} select (jsonb_populate_record(f, '{"workspace_id":"${workspaceId}","project_id":"${projectId}"}')).* from ${table} f where f.workspace_id = '${home.workspaceId}'`,
    )
  const claimed = async (underWay: readonly string[]): Promise<readonly string[]> => {
    const at = { owner: 'turns', now, until: new Date(now.getTime() + 60_000), limit: 10, ofWorkspaceMax: 2 }
    const rows = await claimCursors(database, { ...at, underWay })
    return rows.map((row) => row.workspace_id)
  }
  assert.deepEqual(await claimed([home.workspaceId, home.workspaceId, workspaceId]), [workspaceId])
  assert.equal((await claimed([home.workspaceId, home.workspaceId, workspaceId, workspaceId])).length, 0)
  assert.deepEqual((await claimed([home.workspaceId])).toSorted(), [home.workspaceId, workspaceId].toSorted())
  await database.run(sql`delete from forwarders where workspace_id in (${workspaceId}, ${home.workspaceId})`)
})

test('a receiver that answers slowly delays no forwarder that is due later', async () => {
  const slow = await aForwarder(LOGS)
  const [first] = await events(1)
  const reached = Promise.withResolvers<void>()
  const answers = Promise.withResolvers<void>()
  const other = Promise.withResolvers<void>()
  let requests = 0
  const deps = depsWith((send) => async (request) => {
    requests += 1
    if (requests > 1) return send(request).finally(() => other.resolve())
    reached.resolve()
    await answers.promise
    return send(request)
  })
  stage.world().clock.advance(5_000)
  const running = createForwards(deps, 'patient').run()
  await reached.promise
  await aForwarder(LOGS)
  const [second] = await events(1)
  // Before the lease of the slow one expires.
  stage.world().clock.advance(10_000)
  await other.promise
  assert.deepEqual(received(), idsOf([second]))
  assert.equal((await forwarderOf(slow.id)).progress.logs.sent, 0)
  answers.resolve()
  await running
  assert.ok(received().includes(first?.id))
})

test('two processes send each event once', async () => {
  const { id } = await aForwarder(LOGS)
  const sent = await events(20)
  stage.world().clock.advance(5_000)
  const { deps } = stage.world().app
  await Promise.all(['one', 'two'].map((owner) => createForwards(deps, owner).run()))
  assert.deepEqual(received(), idsOf(sent))
  assert.equal((await forwarderOf(id)).progress.logs.sent, 20)
})

test('a change of the settings during a run ends the run, and the batch is sent with the new settings', async () => {
  const { id } = await aForwarder({ ...LOGS, headers: { 'X-Key': 'first' } })
  const sent = await events(3)
  let changed = false
  const changing = depsWith((send) => async (request) => {
    if (!changed) await asked(stage.world(), `PATCH forwarders/${id}`, { headers: { 'X-Key': 'second' } })
    changed = true
    return send(request)
  })
  stage.world().clock.advance(5_000)
  await createForwards(changing, 'changing').run()
  await run()
  const withNew = receiver().requests.filter(({ headers }) => headers['x-key'] === 'second')
  assert.deepEqual(
    withNew.flatMap(({ logs }) => logs.map(({ attributes }) => attributes['postroad.submission.id'])),
    idsOf(sent),
  )
})

test('while the workspace is suspended nothing is sent, and afterwards the forwarder continues where it stopped', async () => {
  const { id } = await aForwarder(LOGS)
  const sent = await events(3)
  await setSuspended(stage.world(), true)
  await run()
  assert.equal(receiver().requests.length, 0)
  const stopped = await forwarderOf(id)
  assert.deepEqual([stopped.state, stopped.stopped_reason], ['stopped', 'workspace_suspended'])
  await setSuspended(stage.world(), false)
  await run()
  assert.deepEqual(received(), idsOf(sent))
})

test('a suspension during a run ends the run before the next request', async () => {
  await aForwarder(LOGS)
  const sent = await events(6)
  const suspending = depsWith((send) => async (request) => {
    const result = await send(request)
    await setSuspended(stage.world(), true)
    return result
  })
  receiver().answer(({ logs }) => ({ status: logs.length > 2 ? 413 : 200 }))
  stage.world().clock.advance(5_000)
  await createForwards(suspending, 'suspended').run()
  assert.equal(receiver().requests.length, 1)
  await setSuspended(stage.world(), false)
  await run(61_000)
  assert.deepEqual(received(), idsOf(sent))
})

test('a disabled forwarder sends nothing, and continues from its position', async () => {
  const { id } = await aForwarder(LOGS)
  await asked(stage.world(), `PATCH forwarders/${id}`, { enabled: false })
  const sent = await events(2)
  await run()
  assert.equal(receiver().requests.length, 0)
  assert.deepEqual((await forwarderOf(id)).stopped_reason, 'disabled')
  await asked(stage.world(), `PATCH forwarders/${id}`, { enabled: true })
  await run()
  assert.deepEqual(received(), idsOf(sent))
})

test('a forwarder that is deleted during a run sends nothing more', async () => {
  const { id } = await aForwarder(LOGS)
  await events(3)
  const deleting = depsWith((send) => async (request) => {
    await asked(stage.world(), `DELETE forwarders/${id}`)
    return send(request)
  })
  stage.world().clock.advance(5_000)
  await createForwards(deleting, 'deleting').run()
  await events(1)
  await run(61_000)
  assert.equal(receiver().requests.length, 1)
})

test('an event that is committed late is not left out', async () => {
  await aForwarder(LOGS)
  const { database, uuid, clock } = stage.world().app.deps
  const { workspaceId, projectId } = placeOf(stage.world())
  const [first] = await events(1)
  const lateId = uuid()
  const [goesOn, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const late = database.transaction(async (tx) => {
    await tx.run(sql`
      insert into submissions (workspace_id, project_id, id, received_at, headers, body, body_size, decision, record_ids)
      select workspace_id, project_id, ${lateId}, ${new Date(clock.now())}, headers, body, body_size, decision, '{}'
        from submissions
       where workspace_id = ${workspaceId}
         and project_id = ${projectId}
         and id = ${decodeId('submission', first.id) ?? ''}
    `)
    stored.resolve()
    await goesOn.promise
  })
  await stored.promise
  const [second] = await events(1)
  await run()
  await run(20_000)
  await run(20_000)
  assert.deepEqual(received(), idsOf([first, second]))
  goesOn.resolve()
  await late
  await run()
  assert.equal(received().length, 3)
  await run()
  assert.equal(received().length, 3)
})

test('an attempt that is open during many rounds is sent once, when it has ended', async () => {
  await aForwarder({ signals: ['traces'], content: ['attempts'] })
  const { database, uuid, clock } = stage.world().app.deps
  const { workspaceId } = placeOf(stage.world())
  const { destination } = await asked(stage.world(), 'POST destinations', {
    name: aName('slow'),
    url: 'http://127.0.0.1:9/',
  })
  await events(1)
  const id = uuid()
  await database.run(sql`
    insert into delivery_attempts (workspace_id, project_id, id, delivery_id, destination_id, number, trigger, fence, started_at)
    select workspace_id, project_id, ${id}, id, destination_id, 1, 'initial', 1, ${new Date(clock.now())}
      from deliveries
     where workspace_id = ${workspaceId}
       and destination_id = ${decodeId('destination', destination.id) ?? ''}
  `)
  for (let round = 0; round < 12; round += 1)
    // oxlint-disable-next-line no-await-in-loop -- round after round
    await run(60_000)
  assert.equal(receiver().requests.length, 0)
  await database.run(sql`
    update delivery_attempts
       set outcome = 'succeeded', duration_ms = 1234, response_status = 200
     where workspace_id = ${workspaceId}
       and id = ${id}
  `)
  await run()
  await run()
  const spans = receiver().spans()
  assert.deepEqual(
    spans.map(({ name, end, start }) => [name, name === 'attempt' ? end - start : undefined]),
    [
      ['attempt', 1234],
      ['delivery', undefined],
    ],
  )
  await asked(stage.world(), `DELETE destinations/${destination.id}`)
})

test('rows that retention removes before they are sent are counted, and later ones are sent', async () => {
  const { id } = await aForwarder(LOGS)
  receiver().answer({ status: 503 })
  await events(4)
  await run()
  await run(31 * DAY_MS)
  await runUpkeep(stage.world().app.deps)
  const gap = (await forwarderOf(id)).progress.logs
  assert.equal(gap.expired, 4)
  assert.ok(gap.lost_at)
  receiver().answer({ status: 200 })
  const sent = await events(2)
  await run(HOUR_MS)
  assert.deepEqual(received(), idsOf(sent))
  await runUpkeep(stage.world().app.deps)
  assert.equal((await forwarderOf(id)).progress.logs.expired, 4)
})
