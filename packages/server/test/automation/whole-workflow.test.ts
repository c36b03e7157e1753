import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LLMock } from '@copilotkit/aimock'
import { numberFromText } from '../../src/domain/json/json-text.ts'
import { asked, aModelServer, anAgentOf } from '../stage/ai-stage.ts'
import { aDestination, aName, anIngestKey, post, submissionOf } from '../stage/fixtures.ts'
import { aSink, aWorld, type Answer, type Sink, type World } from '../stage/harness.ts'
import { payloadsIn } from '../stage/source-stage.ts'

/** One server with every role, used through its API only: workflows, agents, waits and deliveries together. */
let world: World
let models: LLMock
let sink: Sink
let key: string

before(async () => {
  world = await aWorld({ loops: ['workflows.run'] })
  models = await aModelServer()
  sink = await aSink()
  ;({ key } = await anIngestKey(world))
})
after(async () => {
  await world.stop()
  await models.stop()
  await sink.stop()
})

const send = async (dataset: string, payload: unknown): Promise<Answer['body']> => {
  const answer = await post(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, JSON.stringify(payload))
  assert.equal(answer.status, 201)
  return answer.body
}

const instanceAt = async (id: string): Promise<Answer['body']> =>
  (await asked(world, `GET workflow-instances/${id}`)).instance

/** The instance once the world is idle. It must be in this state. */
async function instanceIn(id: string, state: string): Promise<Answer['body']> {
  await world.idle()
  const instance = await instanceAt(id)
  assert.equal(instance.state, state, JSON.stringify(instance))
  return instance
}

test('an event starts a workflow that waits for another event, branches, asks an agent, files a record and delivers it', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['nothing_else'] })
  const { agent } = await anAgentOf(world, {
    provider: { base_url: `${models.url}/v1`, structured_outputs: true },
    agent: {
      output_schema: { type: 'object', properties: { risk: { enum: ['low', 'high'] } }, required: ['risk'] },
    },
  })
  models.onMessage(/"order":"o_1"/, { content: '{"risk":"high"}' })
  const { workflow } = await asked(world, 'POST workflows', {
    name: aName('follow-up'),
    entry_dataset: 'orders',
    entry_conditions: [{ path: 'status', equals: 'created' }],
    steps: [
      {
        id: 'paid',
        type: 'wait_for_event',
        dataset: 'payments',
        conditions: [{ path: 'order_id', equals: '{{ payload.id }}' }],
        timeout_seconds: 86_400,
      },
      {
        id: 'route',
        type: 'branch',
        input: 'steps.paid.output.payload',
        branches: [
          {
            name: 'large',
            conditions: [{ path: 'amount', op: 'gte', value: 1_000 }],
            steps: [
              { id: 'classify', type: 'run_agent', agent, input: { order: '{{ payload.id }}' } },
              {
                id: 'summary',
                type: 'emit_event',
                dataset: 'summaries',
                data: { order: '{{ payload.id }}', risk: '{{ steps.classify.output.risk }}' },
              },
            ],
          },
        ],
      },
      { id: 'notify', type: 'deliver', destination: destination.id, await: 'delivered' },
    ],
  })
  const event = await send('orders', { id: 'o_1', status: 'created' })
  const [started] = (await submissionOf(world, event.id)).decision.starts
  assert.deepEqual([started.id, started.reason], [workflow.id, 'matched'])
  await instanceIn(started.started_id, 'waiting')
  await send('payments', { order_id: 'o_2', amount: 5 })
  await send('payments', { order_id: 'o_1', amount: 1_200 })
  await world.idle()
  await world.run('ai_runs')
  // The engine looks at a delivery that it awaits each second.
  await world.idle()
  world.clock.advance(1_000)
  const ended = await instanceIn(started.started_id, 'completed')
  assert.deepEqual(
    ended.steps.map(({ step_id, state }: Answer['body']) => [step_id, state]),
    ['paid', 'route', 'classify', 'summary', 'notify'].map((id) => [id, 'succeeded']),
  )
  const { records } = await asked(world, 'GET records?dataset=summaries')
  assert.deepEqual(
    records.map((record: Answer['body']) => record.data),
    [{ order: 'o_1', risk: 'high' }],
  )
  assert.match(sink.received.at(-1)?.body ?? '', /"status":"created"/)
  const story = await asked(world, `GET search/correlate/${event.records[0].id}`)
  assert.equal(story.workflow_instances[0].id, started.started_id)
})

test('a canceled instance ends the AI run that it waits for', async () => {
  const { agent } = await anAgentOf(world)
  await asked(world, 'POST workflows', {
    name: aName('asks'),
    entry_dataset: 'asked',
    steps: [{ id: 'ask', type: 'run_agent', agent }],
  })
  const event = await send('asked', { n: 1 })
  const [{ started_id: id }] = (await submissionOf(world, event.id)).decision.starts
  await instanceIn(id, 'waiting')
  const [run] = (await asked(world, 'GET search/ai-runs')).ai_runs
  assert.deepEqual([run.instance_id, run.step_id, run.state], [id, 'ask', 'queued'])
  await asked(world, `POST workflow-instances/${id}/cancel`)
  assert.equal((await instanceAt(id)).state, 'cancelled')
  assert.equal((await asked(world, `GET ai-runs/${run.id}`)).ai_run.state, 'cancelled')
})

/** The instance has failed, although no loop has looked for work since it was due. */
async function assertFailed(id: string): Promise<void> {
  await world.quiet()
  assert.equal((await instanceAt(id)).state, 'failed')
}

test('a manual run and a retry start immediately, and do not wait for the next look of the engine', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['nothing_else'] })
  const { workflow } = await asked(world, 'POST workflows', {
    name: aName('manual'),
    entry_dataset: 'unused',
    steps: [{ id: 'send', type: 'deliver', destination: destination.id }],
  })
  await asked(world, `DELETE destinations/${destination.id}`)
  const { records } = await send('manual_runs', { n: 1 })
  // The loop has looked once, so only a hint or the next second makes the engine look again.
  world.clock.advance(1_000)
  await world.quiet()
  const { instance } = await asked(world, `POST workflows/${workflow.id}/run`, { record_id: records[0].id })
  await assertFailed(instance.id)
  const retried = await asked(world, `POST workflow-instances/${instance.id}/retry`)
  assert.equal(retried.instance.state, 'pending')
  await assertFailed(instance.id)
})

test('a number in the payload of a step is filed as it was saved, with every digit', async () => {
  const data = { id: numberFromText('12345678901234567890'), price: numberFromText('1.50'), of: '{{ payload.n }}' }
  const emit = { id: 'note', type: 'emit_event', dataset: 'exact_notes', data }
  const { workflow } = await asked(world, 'POST workflows', {
    name: aName('exact'),
    entry_dataset: 'exact_orders',
    steps: [{ id: 'route', type: 'branch', branches: [{ name: 'all', steps: [emit] }] }],
  })
  await send('exact_orders', { n: 1 })
  await world.idle()
  const [text] = await payloadsIn(world, 'exact_notes')
  assert.equal(text, '{"id":12345678901234567890,"price":1.50,"of":1}')
  const answer = await fetch(
    `${world.baseUrl}/admin/api/projects/${world.installed.project.id}/workflows/${workflow.id}`,
    {
      headers: { authorization: `Bearer ${world.installed.api_key}` },
    },
  )
  assert.match(await answer.text(), /"id":12345678901234567890,"price":1\.50/)
})

test('a wait for a number beyond 2^53 fails with a remedy, and one for the same digits as text ends with these digits only', async () => {
  const wait = {
    id: 'paid',
    type: 'wait_for_event',
    dataset: 'exact_payments',
    conditions: [{ path: 'order', equals: '{{ payload.id }}' }],
    timeout_seconds: 600,
  }
  const { workflow } = await asked(world, 'POST workflows', {
    name: aName('exact waits'),
    entry_dataset: 'exact_carts',
    steps: [wait],
  })
  const instanceOf = async (id: unknown): Promise<string> => {
    const { records } = await send('exact_carts', { id })
    const listed = await asked(world, `GET workflow-instances?workflow_id=${workflow.id}&record_id=${records[0].id}`)
    return listed.instances[0].id
  }
  for (const digits of ['9007199254740993', '9007199254740992']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const ended = await instanceIn(await instanceOf(numberFromText(digits)), 'failed')
    assert.equal(ended.error.reason, 'template_failed')
    assert.match(ended.error.message, /beyond 2\^53.*Send this value as text/)
  }
  const id = await instanceOf('9007199254740993')
  await instanceIn(id, 'waiting')
  const others = ['9007199254740992', numberFromText('9007199254740993'), numberFromText('9007199254740992')]
  // oxlint-disable-next-line no-await-in-loop -- in this order
  for (const order of others) await send('exact_payments', { order })
  const { records } = await send('exact_payments', { order: '9007199254740993' })
  const { steps } = await instanceIn(id, 'completed')
  assert.equal(steps[0].output.record_id, records[0].id)
})
