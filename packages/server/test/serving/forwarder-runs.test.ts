import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LLMock } from '@copilotkit/aimock'
import { decodeId } from '@postroad/contract'
import { aModelServer, anAgentOf } from '../stage/ai-stage.ts'
import { aName } from '../stage/fixtures.ts'
import { onForwarderStage } from '../stage/forwarder-stage.ts'
import { asked } from '../stage/source-stage.ts'

/** Workflows and agents in the trace of the event that started them. Only the test forwards. */
const stage = onForwarderStage({ loops: ['workflows.run', 'ai_runs'] })
const { aForwarder, events, receiver, run } = stage

let models: LLMock
before(async () => {
  models = await aModelServer()
})
after(() => models.stop())

const hexOf = (uuid: string | undefined): string => (uuid ?? '').replaceAll('-', '')

test('an instance with its steps, and the run of an agent inside it, are spans of the trace of their event', async () => {
  const world = stage.world()
  const { agent } = await anAgentOf(world, { provider: { base_url: `${models.url}/v1` } })
  models.onMessage(/.*/, { content: 'done' })
  await aForwarder()
  await asked(world, 'POST workflows', {
    name: aName('triage'),
    entry_dataset: 'events',
    steps: [{ id: 'classify', type: 'run_agent', agent, input: { n: '{{ payload.n }}' } }],
  })
  const [event] = await events(1)
  const traceId = hexOf(decodeId('submission', event.id))
  const wanted = ['event', 'capture', 'route', 'workflow', 'step run_agent', 'ai_run']
  await world.idle()
  await run()
  const spans = receiver().spans()
  for (const name of wanted)
    assert.ok(
      spans.some((span) => span.name === name),
      name,
    )
  assert.deepEqual(new Set(spans.map((span) => span.traceId)), new Set([traceId]))
  const named = (name: string) => spans.find((span) => span.name === name)
  assert.equal(named('workflow')?.parentId, named('event')?.spanId)
  assert.equal(named('step run_agent')?.parentId, named('workflow')?.spanId)
  assert.equal(named('ai_run')?.parentId, named('workflow')?.spanId)
  assert.equal(named('ai_run')?.attributes['postroad.state'], 'succeeded')
  const logs = receiver().logs()
  for (const ended of ['postroad.ai_run.ended', 'postroad.workflow_instance.ended'])
    assert.ok(
      logs.some((log) => log.event === ended),
      ended,
    )
  assert.deepEqual(new Set(logs.map((log) => log.traceId)), new Set([traceId]))
})
