import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import type { FixtureResponse, LLMock } from '@copilotkit/aimock'
import { parseJson } from '../../src/domain/json/json-text.ts'
import { sql } from '../../src/platform/db.ts'
import { claimRuns } from '../../src/resources/automation/ai-runs/queries.ts'
import {
  insertWorkspace,
  reinstateWorkspace,
  suspendWorkspace,
} from '../../src/resources/workspace/workspaces/index.ts'
import { asked, aModelServer, anAgentOf, runOf, workOnRuns } from '../stage/ai-stage.ts'
import { aName } from '../stage/fixtures.ts'
import { storeEvent } from '../stage/workflow-stage.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'

/** Answers of models that are legal but rare, and runs that wait for each other. The test runs the loop itself. */
let world: World
let models: LLMock

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  models = await aModelServer()
})
after(async () => {
  await models.stop()
  await world.stop()
})
beforeEach(() => {
  models.clearFixtures()
  models.clearRequests()
})

const SCHEMA = { type: 'object', properties: { urgency: { enum: ['low', 'high'] } }, required: ['urgency'] }

let datasets = 0
async function aTrigger(agent: object = {}, url = models.url) {
  datasets += 1
  const dataset = `answers${datasets}`
  const made = await anAgentOf(world, { provider: { base_url: `${url}/v1` }, agent })
  const { trigger } = await asked(world, 'POST triggers', { name: aName('trigger'), dataset, agent_id: made.agent })
  return { agent: made.agent, dataset, trigger: trigger.id as string }
}

const runAt = async (id: string): Promise<Answer['body']> => (await asked(world, `GET ai-runs/${id}`)).ai_run
async function ended(dataset: string, payload: unknown = {}): Promise<Answer['body']> {
  const id = await runOf(world, { dataset, payload })
  await workOnRuns(world)
  return runAt(id)
}

const call = (id: string, name: string, input: unknown) => ({ id, name, arguments: JSON.stringify(input) })

/** The last request that the model server received. */
const lastRequest = (): Answer['body'] => models.getLastRequest()?.body

/** Answers with one of these after each further result of a tool. */
function script(...answers: readonly FixtureResponse[]): void {
  models.on({ userMessage: /[\s\S]*/ }, (request) => {
    const results = request.messages.filter(({ role }) => role === 'tool').length
    return answers[Math.min(results, answers.length - 1)] ?? { content: 'no answer' }
  })
}

/** A server that speaks the API of OpenAI, and answers when it may. */
async function aProvider(reply: () => Promise<object>) {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      void reply().then((body) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const stop = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}
const completion = (content: string, finish_reason = 'stop') => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'small',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }],
  usage: { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50 },
})

test('a call runs although its id was the id of an earlier call', async () => {
  const { dataset } = await aTrigger({ tools: ['list_datasets', 'search_records'] })
  script(
    { toolCalls: [call('call_0', 'list_datasets', {})] },
    { toolCalls: [call('call_0', 'search_records', { dataset })] },
    { content: 'done' },
  )
  const { state, output, steps, error } = await ended(dataset)
  assert.deepEqual([state, output], ['succeeded', 'done'], JSON.stringify(error))
  assert.deepEqual(
    steps.flatMap(({ tool }: Answer['body']) => tool ?? []),
    ['list_datasets', 'search_records'],
  )
})

test('every call of an answer gets a result when its output does not fit, because providers demand it', async () => {
  const { dataset } = await aTrigger({ tools: ['search_records'], output_schema: SCHEMA })
  script(
    { toolCalls: [call('a', 'search_records', { dataset }), call('b', 'submit_output', { urgency: 'huge' })] },
    { toolCalls: [call('c', 'submit_output', { urgency: 'low' })] },
  )
  assert.deepEqual((await ended(dataset)).output, { urgency: 'low' })
  const { messages } = lastRequest()
  const results = messages.filter(({ role }: Answer['body']) => role === 'tool')
  assert.deepEqual(
    results.map((one: Answer['body']) => one.tool_call_id),
    ['a', 'b'],
  )
  assert.match(results[1].content, /does not match the schema/)
})

test('the tokens of an answer without any text count, in the run and in the month', async () => {
  const provider = await aProvider(() => Promise.resolve(completion('', 'length')))
  const { dataset, agent } = await aTrigger({ monthly_tokens: 50, max_output_tokens: 10 }, provider.url)
  const { state, error, input_tokens, output_tokens } = await ended(dataset)
  assert.deepEqual([state, error.reason, input_tokens, output_tokens], ['failed', 'answer_cut_off', 40, 10])
  assert.equal((await asked(world, `GET ai-agents/${agent}`)).ai_agent.tokens_this_month, 50)
  world.clock.advance(2_000)
  assert.equal((await ended(dataset)).error.reason, 'token_cap_reached')
  provider.stop()
})

test('a database that is away is no error of the provider, and the run continues when it is back', async () => {
  const { database } = world.app.deps
  const { dataset } = await aTrigger()
  models.onMessage(/.*/, { content: 'ok' })
  await database.run(sql`
    create function refuse_steps() returns trigger language plpgsql as
    $$ begin raise exception 'too many connections' using errcode = '53300'; end $$
  `)
  await database.run(
    sql`create trigger refuse_steps before insert on ai_run_steps for each row execute function refuse_steps()`,
  )
  const { id, state, error } = await ended(dataset)
  assert.deepEqual([state, error], ['running', null])
  await database.run(sql`drop trigger refuse_steps on ai_run_steps`)
  world.clock.advance(200_000)
  await workOnRuns(world)
  assert.equal((await runAt(id)).output, 'ok')
})

test('a name or a pattern that nobody could save is an error of the tool, and the run continues', async () => {
  const { dataset } = await aTrigger({ tools: ['search_records'] })
  const pattern = { path: 'text', op: 'regex', value: '(' }
  script(
    { toolCalls: [call('a', 'search_records', { dataset: 'a\0b' })] },
    { toolCalls: [call('b', 'search_records', { dataset, conditions: [pattern] })] },
    { content: 'done' },
  )
  const { state, output, steps } = await ended(dataset, { text: 'x' })
  assert.deepEqual([state, output], ['succeeded', 'done'])
  assert.match(steps[1].error, /dataset: is not the name of a dataset/)
  assert.match(steps[3].error, /conditions\.0\.value/)
})

test('a tool finds records beyond its first page, and no digit of them is lost on the way to the model', async () => {
  const { dataset } = await aTrigger({ tools: ['search_records'] })
  const old = parseJson('{"order":12345678901234567890,"text":"old"}')
  await storeEvent(world, { dataset: 'searched', data: old.ok ? old.value : null })
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let n = 0; n < 25; n += 1) await storeEvent(world, { dataset: 'searched', data: { text: 'new' } })
  const conditions = [{ path: 'text', equals: 'old' }]
  script({ toolCalls: [call('a', 'search_records', { dataset: 'searched', conditions })] }, { content: 'done' })
  await ended(dataset)
  const { messages } = lastRequest()
  assert.match(messages.find(({ role }: Answer['body']) => role === 'tool').content, /"order":12345678901234567890,/)
})

test('a run that takes long delays no run that comes later', async () => {
  const [heard, answers] = [Promise.withResolvers<void>(), Promise.withResolvers<object>()]
  const provider = await aProvider(() => {
    heard.resolve()
    return answers.promise
  })
  const [slow, quick] = [await aTrigger({}, provider.url), await aTrigger()]
  models.onMessage(/.*/, { content: 'ok' })
  const first = await runOf(world, { dataset: slow.dataset, payload: {} })
  const working = workOnRuns(world)
  await heard.promise
  const second = await runOf(world, { dataset: quick.dataset, payload: {} })
  world.clock.advance(1_000)
  await eventually('the second run has succeeded', async () =>
    (await runAt(second)).state === 'succeeded' ? true : undefined,
  )
  assert.equal((await runAt(first)).state, 'running')
  answers.resolve(completion('late'))
  await working
  assert.equal((await runAt(first)).output, 'late')
  provider.stop()
})

test('workspaces take turns: the one with fewer runs under way is first, however long the others have waited', async () => {
  const { database, uuid } = world.app.deps
  const now = new Date(world.clock.now())
  const [crowd, single] = [uuid(), uuid()]
  for (const [id, count, due] of [
    [crowd, 5, new Date(now.getTime() - 60_000)],
    [single, 1, now],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await insertWorkspace(database, { id, slug: aName('turn'), name: 'Turn', now })
    // oxlint-disable-next-line no-await-in-loop -- as above
    await database.run(sql`
      insert into ai_runs (workspace_id, project_id, id, agent_id, record_id, dataset, due_at, created_at, updated_at)
      select ${id}, ${id}, gen_random_uuid(), ${id}, ${id}, 'turns', ${due}, ${now}, ${now} from generate_series(1, ${count}::int)
    `)
  }
  const claimed = async (underWay: readonly string[]): Promise<readonly string[]> => {
    const until = new Date(now.getTime() + 60_000)
    const rows = await claimRuns(database, { now, until, limit: 1, underWay, ofWorkspaceMax: 3 })
    return rows.map((row) => row.workspace_id)
  }
  assert.deepEqual(await claimed([]), [crowd])
  assert.deepEqual(await claimed([crowd]), [single])
  assert.deepEqual(await claimed([crowd, single]), [crowd])
  assert.deepEqual(await claimed([crowd, crowd, crowd]), [], 'one workspace leaves room for others')
  await database.run(sql`delete from ai_runs where dataset = 'turns'`)
})

test('a schema whose keywords have the wrong form is refused, and a run with one that was stored earlier ends', async () => {
  const { dataset, agent } = await aTrigger({ output_schema: SCHEMA })
  for (const [schema, sentence] of [
    [{ urgency: { enum: 'high' } }, /urgency\.enum must be a list of texts, numbers, true, false or null\./],
    [{ urgency: { type: 'string', minLength: '3' } }, /urgency\.minLength must be a whole number from 0\./],
    [{ urgency: { type: 'object', required: 1 } }, /urgency\.required must be a list of names\./],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const refused = await world.admin('PATCH', `ai-agents/${agent}`, {
      output_schema: { type: 'object', properties: schema },
    })
    assert.equal(refused.status, 400)
    assert.match(refused.body.error, sentence)
  }
  const stored = JSON.stringify({ type: 'object', properties: { urgency: { enum: 'high' } } })
  await world.app.deps.database.run(
    sql`update ai_agents set output_schema = ${stored}::json where id = (select agent_id from ai_triggers where dataset = ${dataset})`,
  )
  models.onMessage(/.*/, { toolCalls: [call('a', 'submit_output', { urgency: 'high' })] })
  const { state, error } = await ended(dataset)
  assert.deepEqual([state, error.reason], ['failed', 'output_invalid'])
  assert.match(error.error, /The schema cannot be read/)
})

test('the runs that wait for the rate of a trigger are skipped when it is deleted', async () => {
  const { dataset, trigger } = await aTrigger()
  models.onMessage(/.*/, { content: 'ok' })
  const ids = [await runOf(world, { dataset, payload: {} }), await runOf(world, { dataset, payload: {} })]
  await workOnRuns(world)
  await asked(world, `DELETE triggers/${trigger}`)
  world.clock.advance(2_000)
  await workOnRuns(world)
  const runs = await Promise.all(ids.map(runAt))
  assert.deepEqual(
    runs.map(({ state, error }) => `${state} ${error?.reason}`).toSorted(),
    ['skipped trigger_deleted', 'succeeded undefined'],
    'either of two runs of the same moment can be first',
  )
})

test('a run that a late commit adds after a suspension waits for the reinstatement', async () => {
  const { dataset } = await aTrigger()
  models.onMessage(/.*/, { content: 'ok' })
  const id = await runOf(world, { dataset, payload: {} })
  const { deps } = world.app
  const { slug } = world.installed.workspace
  await suspendWorkspace(deps, { slug, reason: 'test' })
  await deps.database.run(sql`update ai_runs set paused_at = null where dataset = ${dataset}`)
  await workOnRuns(world)
  assert.equal(models.getRequests().length, 0)
  await reinstateWorkspace(deps, { slug })
  await workOnRuns(world)
  assert.equal((await runAt(id)).state, 'succeeded')
})
