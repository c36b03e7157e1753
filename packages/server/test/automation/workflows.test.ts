import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeId, LIMITS } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import {
  assertRefused,
  call,
  created,
  database,
  enterPlacesWith,
  foreign,
  home,
  leavePlaces,
  sink,
  world,
} from '../stage/admin-asking.ts'
import { anEventIn } from '../stage/example-resources.ts'
import { submissionOf } from '../stage/fixtures.ts'

/** Workflow definitions: replaced as a whole, checked when saved, and known to ingest immediately (contract part 4). */
// No engine runs, so that instances stay as the tests left them.
before(() => enterPlacesWith({ ROLES: 'web,deliver' }))
after(leavePlaces)

const STEPS = [{ id: 'later', type: 'delay', seconds: 60 }]
const delivering = (id: string) => [{ id: 'notify', type: 'deliver', destination: id }]
const listed = async (query: string) => (await call(home, `GET workflow-instances?${query}`)).body.instances
const ONCE = [{ path: 'a', equals: 1 }]

const aWorkflow = async (more: object = {}) =>
  (await created(home, 'workflows', { entry_dataset: 'idle', steps: STEPS, ...more })).workflow

const get = async (id: string) => (await call(home, `GET workflows/${id}`)).body.workflow

test('a replacement reverts omitted members to their defaults, by PUT and by PATCH', async () => {
  for (const method of ['PUT', 'PATCH']) {
    const { id } = await aWorkflow({ active: false, entry_conditions: ONCE })
    const body = { name: 'Replaced', entry_dataset: 'idle', steps: STEPS }
    const answer = await call(home, `${method} workflows/${id}`, { body })
    assert.deepEqual([answer.status, answer.body], [200, { ok: true }])
    const { name, active, entry_conditions, version } = await get(id)
    assert.deepEqual(
      { name, active, entry_conditions, version },
      {
        name: 'Replaced',
        active: true,
        entry_conditions: [],
        version: 2,
      },
    )
    for (const missing of ['name', 'entry_dataset', 'steps']) {
      const { [missing]: _left, ...rest } = body as Record<string, unknown>
      assertRefused(await call(home, `${method} workflows/${id}`, { body: rest }), 400, 'invalid_request')
    }
    assert.equal((await get(id)).version, 2, 'a refused replacement changes nothing')
  }
})

test('the version is incremented by the service and cannot be set', async () => {
  const { id, version } = await aWorkflow()
  assert.equal(version, 1)
  const body = { name: 'x', entry_dataset: 'idle', steps: STEPS, version: 9 }
  const refused = await call(home, `PUT workflows/${id}`, { body })
  assertRefused(refused, 400, 'invalid_request')
  assert.match(refused.body.error, /version/)
})

test('a version never changes, and shows the definition as it was', async () => {
  const { id, name } = await aWorkflow({ entry_conditions: ONCE })
  await call(home, `PUT workflows/${id}`, { body: { name: 'Second', entry_dataset: 'other', steps: STEPS } })
  const { body } = await call(home, `GET workflows/${id}/versions`)
  assert.deepEqual(
    body.versions.map((one: { version: number }) => one.version),
    [2, 1],
  )
  const first = (await call(home, `GET workflows/${id}/versions/1`)).body.version
  assert.deepEqual([first.name, first.entry_dataset, first.entry_conditions], [name, 'idle', ONCE])
  assert.deepEqual(first.steps, STEPS)
  assertRefused(await call(home, `GET workflows/${id}/versions/3`), 404, 'not_found')
})

test('the slug is unique in a project, made from the name, and stays while the name stays', async () => {
  const { slug, id } = await aWorkflow({ name: 'Order Follow-up' })
  assert.equal(slug, 'order-follow-up')
  const other = await aWorkflow({ name: 'Order Follow-up' })
  assert.match(other.slug, /^order-follow-up-.{6}$/)
  const again = { name: 'Order Follow-up', entry_dataset: 'idle', steps: STEPS }
  await call(home, `PUT workflows/${other.id}`, { body: again })
  assert.equal((await get(other.id)).slug, other.slug)
  assertRefused(await call(home, `PUT workflows/${other.id}`, { body: { ...again, slug } }), 409, 'slug_taken')
  await call(home, `PUT workflows/${id}`, { body: { ...again, name: 'Renamed' } })
  assert.equal((await get(id)).slug, 'renamed')
})

test('names have 1 to 120 characters', async () => {
  for (const name of ['', ' ', 'x'.repeat(121), 7, null])
    assertRefused(
      await call(home, 'POST workflows', { body: { name, entry_dataset: 'idle', steps: STEPS } }),
      400,
      'invalid_request',
    )
  assert.equal((await aWorkflow({ name: 'x'.repeat(120) })).name.length, 120)
})

test('an incorrect step is refused with its place, on create and on replace', async () => {
  const { id } = await aWorkflow()
  for (const [steps, sentence] of [
    [[], /^steps:? /],
    [[{ id: 'a', type: 'transform' }], /^steps\[0\]\.type:? /],
    [[{ id: '1a', type: 'delay', seconds: 1 }], /^steps\[0\]\.id must begin with a letter/],
    [[{ id: 'a', type: 'delay', seconds: 1, until: 'x' }], /^steps\[0\] needs either seconds or until/],
    [[{ id: 'a', type: 'delay', seconds: 1, minutes: 2 }], /^steps\[0\]: unknown field "minutes"/],
    [
      [{ id: 'a', type: 'emit_event', dataset: 'made', data: '{{ nothing }}' }],
      /^steps\[0\]\.data: nothing does not exist here/,
    ],
    [[...STEPS, ...STEPS], /^steps\[1\]\.id: "later" is also the id of steps\[0\]/],
  ] as const) {
    const body = { name: 'x', entry_dataset: 'idle', steps }
    for (const route of ['POST workflows', `PUT workflows/${id}`]) {
      const answer = await call(home, route, { body })
      assertRefused(answer, 400, 'invalid_request')
      assert.match(answer.body.error, sentence)
    }
  }
})

test('a deliver step names a destination of the same project', async () => {
  const { destination } = await created(home, 'destinations', { url: sink.url, datasets: ['Nothing'] })
  const theirs = (await created(foreign, 'destinations', { url: sink.url, datasets: ['Nothing'] })).destination
  assert.equal((await aWorkflow({ steps: delivering(destination.id) })).steps[0].destination, destination.id)
  const body = { name: 'x', entry_dataset: 'idle', steps: delivering(theirs.id) }
  const answer = await call(home, 'POST workflows', { body })
  assertRefused(answer, 400, 'invalid_request')
  assert.match(answer.body.error, /^steps\[0\]\.destination: this project has no destination/)
})

test('a change is known to ingest immediately, and each change has one audit row', async () => {
  const dataset = 'orders'
  const { key } = await created(home, 'ingest-keys', {})
  const post = async () => {
    const response = await fetch(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, { method: 'POST', body: '{"a":1}' })
    const { decision } = await submissionOf(world, ((await response.json()) as { id: string }).id)
    return (decision.starts ?? []).map((one: { id: string; reason: string }) => [one.id, one.reason])
  }
  assert.deepEqual(await post(), [])
  const { id } = await aWorkflow({ entry_dataset: dataset, entry_conditions: ONCE })
  assert.deepEqual(await post(), [[id, 'matched']])
  const body = { name: 'x', entry_dataset: dataset, steps: STEPS }
  await call(home, `PUT workflows/${id}`, { body: { ...body, entry_conditions: [{ path: 'a', equals: '1' }] } })
  assert.deepEqual(await post(), [[id, 'condition_failed']])
  await call(home, `PUT workflows/${id}`, { body: { ...body, active: false } })
  assert.deepEqual(await post(), [])
  await call(home, `DELETE workflows/${id}`)
  const rows = await database.many<{ action: string }>(
    sql`select action from audit_rows where target = ${id} order by id`,
  )
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['create_workflow', 'update_workflow', 'update_workflow', 'delete_workflow'],
  )
})

test('the deletion of a workflow cancels its instances that have not ended', async () => {
  const { id } = await aWorkflow()
  const record_id = (await anEventIn(home)).records[0].id
  const [one, two] = await Promise.all(
    [0, 1].map(async () => (await call(home, `POST workflows/${id}/run`, { body: { record_id } })).body.instance),
  )
  await call(home, `POST workflow-instances/${two.id}/cancel`)
  await call(home, `DELETE workflows/${id}`)
  const { body } = await call(home, `GET workflow-instances?workflow_id=${id}`)
  assert.deepEqual(
    new Map(
      body.instances.map((shown: { id: string; state: string; workflow: unknown }) => [
        shown.id,
        [shown.state, shown.workflow],
      ]),
    ),
    new Map([one.id, two.id].map((instance) => [instance, ['cancelled', null]])),
  )
  assertRefused(await call(home, `GET workflows/${id}`), 404, 'not_found')
})

test('an instance is canceled and retried under a new fence, so that an earlier claim changes nothing', async () => {
  const { id } = await aWorkflow()
  const record_id = (await anEventIn(home)).records[0].id
  const { instance } = (await call(home, `POST workflows/${id}/run`, { body: { record_id } })).body
  assert.deepEqual([instance.started_by, instance.version, instance.record_id], ['hand', 1, record_id])
  const at = decodeId('workflowInstance', instance.id) ?? ''
  const fenceOf = async () =>
    (await database.one<{ fence: number }>(sql`select fence from workflow_instances where id = ${at}`)).fence
  assertRefused(await call(home, `POST workflow-instances/${instance.id}/retry`), 409, 'invalid_state')
  await database.run(sql`
    update workflow_instances set state = 'failed', cursor = 2, attempt = 2, due_at = null, lease_until = null, ended_at = now(),
           error = '{"step_id":"later","reason":"x","message":"y"}', context = '{"payload":1}'
     where id = ${at}
  `)
  const first = await fenceOf()
  const retried = (await call(home, `POST workflow-instances/${instance.id}/retry`)).body.instance
  assert.deepEqual([retried.state, retried.error, retried.ended_at], ['pending', null, null])
  const row = await database.one<{ cursor: number; attempt: number; context: unknown }>(
    sql`select cursor, attempt, context from workflow_instances where id = ${at}`,
  )
  assert.deepEqual([row.cursor, row.attempt, row.context], [2, 0, { payload: 1 }])
  const middle = await fenceOf()
  const canceled = (await call(home, `POST workflow-instances/${instance.id}/cancel`)).body.instance
  assert.deepEqual([canceled.state, canceled.next_at], ['cancelled', null])
  assert.ok(middle > first && (await fenceOf()) > middle)
  assertRefused(await call(home, `POST workflow-instances/${instance.id}/cancel`), 409, 'invalid_state')
})

test('instances are listed by workflow, record and state, and a paused one shows the state in which it continues', async () => {
  const { id } = await aWorkflow()
  const record_id = (await anEventIn(home)).records[0].id
  const { instance } = (await call(home, `POST workflows/${id}/run`, { body: { record_id } })).body
  await database.run(sql`
    update workflow_instances
       set state = 'waiting', wait_kind = 'event', wait_dataset = 'payments', wait_conditions = '[{"path":"a","equals":1}]', due_at = now(),
           lease_until = 'infinity'
     where id = ${decodeId('workflowInstance', instance.id) ?? ''}
  `)
  const [waiting] = await listed(`record_id=${record_id}&state=waiting`)
  assert.deepEqual(
    [waiting.id, waiting.waits_for.kind, waiting.waits_for.dataset, waiting.waits_for.conditions],
    [instance.id, 'event', 'payments', ONCE],
  )
  await database.run(
    sql`update workflow_instances set paused_at = now() where workflow_id = ${decodeId('workflow', id) ?? ''}`,
  )
  assert.deepEqual(await listed(`workflow_id=${id}&state=waiting`), [])
  const [paused] = await listed(`workflow_id=${id}&state=paused,failed`)
  assert.deepEqual([paused.state, paused.resumes_as, paused.next_at], ['paused', 'waiting', null])
  assertRefused(await call(home, 'GET workflow-instances?state=stuck'), 400, 'invalid_request')
})

test('a dry run renders the input of each step, takes branches, and stores nothing', async () => {
  const steps = [
    {
      id: 'paid',
      type: 'wait_for_event',
      dataset: 'payments',
      conditions: [{ path: 'order', equals: '{{ payload.id }}' }],
      timeout_seconds: 60,
    },
    {
      id: 'route',
      type: 'branch',
      branches: [
        {
          name: 'big',
          conditions: [{ path: 'total', op: 'gte', value: 1_000 }],
          steps: [{ id: 'large', type: 'emit_event', dataset: 'large' }],
        },
      ],
      else: [
        {
          id: 'small',
          type: 'emit_event',
          dataset: 'small',
          data: { by: '{{ steps.paid.output.payload.by }}', total: '{{ payload.total }}' },
        },
      ],
    },
  ]
  const counted = sql`select (select count(*) from workflow_instances)::int + (select count(*) from records)::int as n`
  const { n } = await database.one<{ n: number }>(counted)
  const body = { steps, payload: { id: 'o-1', total: 12.5 }, outputs: { paid: { payload: { by: 'card' } } } }
  const shown = (await call(home, 'POST workflows/dry-run', { body })).body
  assert.deepEqual([shown.starts, shown.complete], [true, true])
  assert.deepEqual(
    shown.steps.map((step: { place: string; input: unknown; output: unknown }) => [
      step.place,
      step.input,
      step.output,
    ]),
    [
      [
        'steps[0]',
        { dataset: 'payments', conditions: [{ path: 'order', equals: 'o-1' }], timeout_seconds: 60 },
        { payload: { by: 'card' } },
      ],
      ['steps[1]', null, { taken: 'else' }],
      ['steps[1].else[0]', { dataset: 'small', data: { by: 'card', total: 12.5 } }, { record_id: null }],
    ],
  )
  assert.deepEqual(shown.steps[1].failed[0].failed, { index: 0, path: 'total', op: 'gte', expected: 1_000, saw: 12.5 })
  assert.equal((await database.one<{ n: number }>(counted)).n, n)
})

test('a dry run of a saved workflow uses a stored record, and reports the entry condition that failed', async () => {
  const { id } = await aWorkflow({ entry_dataset: 'filed', entry_conditions: [{ path: 'a', equals: 2 }] })
  const record_id = (await anEventIn(home)).records[0].id
  const shown = (await call(home, 'POST workflows/dry-run', { body: { workflow_id: id, record_id } })).body
  assert.deepEqual([shown.starts, shown.failed.saw, shown.steps.length], [false, 1, 1])
  for (const body of [{ workflow_id: id }, { workflow_id: id, record_id, payload: 1 }, { payload: 1 }])
    assertRefused(await call(home, 'POST workflows/dry-run', { body }), 400, 'invalid_request')
})

test('the work of a dry run is limited', async () => {
  const heavy = `{{ payload | json ${'| upcase '.repeat(18)} }}`
  const steps = Array.from({ length: LIMITS.workflowStepsMax }, (_, index) => ({
    id: `s${index}`,
    type: 'emit_event',
    dataset: 'made',
    data: { size: heavy.replace(' }}', '| size }}') },
  }))
  const payload = 'x'.repeat(100_000)
  const shown = (await call(home, 'POST workflows/dry-run', { body: { steps, payload } })).body
  assert.equal(shown.complete, false)
  assert.ok(shown.steps.length < steps.length)
  assert.match(shown.steps.at(-1).error, /more work than one step can use/)
})
