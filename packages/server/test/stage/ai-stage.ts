import assert from 'node:assert/strict'
import { LLMock } from '@copilotkit/aimock'
import { createAgentRuns } from '../../src/pipeline/agents/index.ts'
import { aName, anIngestKey, post, submissionOf } from './fixtures.ts'
import type { Answer, World } from './harness.ts'

/** Providers, agents and triggers for tests, and a server that speaks the APIs of the providers. */

export async function aModelServer(): Promise<LLMock> {
  const server = new LLMock({ port: 0 })
  await server.start()
  return server
}

/** Answers 201 or 200 to a request of the admin API, or fails. */
export async function asked(world: World, line: string, body?: unknown): Promise<Answer['body']> {
  const [method = '', path = ''] = line.split(' ')
  const answer = await world.admin(method, path, body)
  assert.ok(answer.status < 300, `${line}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

export type AgentOptions = { readonly provider?: object; readonly agent?: object }

export async function anAgentOf(
  world: World,
  { provider, agent }: AgentOptions = {},
): Promise<{ readonly provider: string; readonly agent: string }> {
  const { ai_provider } = await asked(world, 'POST ai-providers', {
    name: aName('provider'),
    kind: 'openai_compatible',
    base_url: 'http://127.0.0.1:9/v1',
    default_model: 'small',
    ...provider,
  })
  const { ai_agent } = await asked(world, 'POST ai-agents', {
    name: aName('agent'),
    provider_id: ai_provider.id,
    instructions: 'Say how urgent the ticket is.',
    ...agent,
  })
  return { provider: ai_provider.id, agent: ai_agent.id }
}

/** Sends an event into a dataset, and returns the run that it started. */
export async function runOf(
  world: World,
  { dataset, payload }: { dataset: string; payload: unknown },
): Promise<string> {
  const { key } = await anIngestKey(world)
  const answer = await post(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, JSON.stringify(payload))
  assert.equal(answer.status, 201)
  const { decision } = await submissionOf(world, answer.body.id)
  const [started] = decision.starts ?? []
  assert.equal(started?.reason, 'matched', JSON.stringify(decision.starts))
  return started.started_id
}

let datasets = 0

/** A run that waits for a provider without a server. */
export async function aRunOf(world: World): Promise<string> {
  const { agent } = await anAgentOf(world)
  datasets += 1
  const dataset = `asked_of_nobody_${datasets}`
  await asked(world, 'POST triggers', { name: aName('trigger'), dataset, agent_id: agent })
  return runOf(world, { dataset, payload: {} })
}

/** Works on the due AI runs in this process. */
export function workOnRuns(world: World, acceptAll = world.app.acceptAll): Promise<unknown> {
  return createAgentRuns({ ...world.app.deps, acceptAll }).run()
}
