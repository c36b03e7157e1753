import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { asked, anAgentOf, runOf, workOnRuns, type AgentOptions } from '../stage/ai-stage.ts'
import { aName } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'

/**
 * AI agents at a real model, only when `AI_TEST_BASE_URL` names a server with the API of OpenAI (CONTRIBUTING.md). The words of a
 * model differ from run to run, so these tests check the form of its answers.
 */
const {
  AI_TEST_BASE_URL: baseUrl,
  AI_TEST_MODEL: model = 'default',
  AI_TEST_KEY: key,
  AI_TEST_ALLOW: allow,
} = process.env

describe('a real model', { skip: baseUrl === undefined && 'set AI_TEST_BASE_URL' }, () => {
  let world: World

  before(async () => {
    world = await aWorld({ env: { ROLES: 'web', ...(allow === undefined ? {} : { OUTBOUND_ALLOW: allow }) } })
  })
  after(() => world.stop())

  /** Runs an agent once on a payload, and returns the run with its steps. */
  async function ran({ provider, agent }: AgentOptions, payload: unknown): Promise<Answer['body']> {
    const made = await anAgentOf(world, {
      provider: {
        base_url: baseUrl,
        default_model: model,
        ...(key === undefined ? {} : { api_key: key }),
        ...provider,
      },
      agent: { timeout_seconds: 120, ...agent },
    })
    const dataset = aName('asked').replaceAll(/\W/g, '_')
    await asked(world, 'POST triggers', { name: aName('trigger'), dataset, agent_id: made.agent })
    const id = await runOf(world, { dataset, payload })
    await workOnRuns(world)
    const run = (await asked(world, `GET ai-runs/${id}`)).ai_run
    assert.equal(run.state, 'succeeded', JSON.stringify(run.error))
    return { ...run, provider: made.provider }
  }

  test('answers with text, and the tokens of its answer are counted', async () => {
    const run = await ran({}, { text: 'The server room is on fire.' })
    assert.ok(typeof run.output === 'string' && run.output.trim() !== '')
    assert.ok(run.input_tokens > 0 && run.output_tokens > 0)
    const tested = await asked(world, `POST ai-providers/${run.provider}/test`)
    assert.deepEqual([tested.ok, tested.error], [true, null])
  })

  for (const structured of [true, false]) {
    test(`answers with the object of a schema, ${structured ? 'by' : 'without'} the structured outputs of its server`, async () => {
      const schema = {
        type: 'object',
        properties: { urgency: { type: 'string', enum: ['low', 'high'] } },
        required: ['urgency'],
        additionalProperties: false,
      }
      const run = await ran(
        { provider: { structured_outputs: structured }, agent: { output_schema: schema } },
        { text: 'The server room is on fire.' },
      )
      assert.ok(['low', 'high'].includes(run.output.urgency), JSON.stringify(run.output))
    })
  }

  test('uses a tool of the project', async () => {
    const run = await ran(
      {
        agent: {
          tools: ['search_records'],
          instructions:
            'Call the tool search_records once, for the dataset "orders" without conditions. Then answer with the number of records that it found.',
        },
      },
      { question: 'How many orders are there?' },
    )
    const [used] = run.steps.filter(({ kind }: Answer['body']) => kind === 'tool')
    assert.deepEqual([used?.tool, used?.error], ['search_records', null])
  })
})
