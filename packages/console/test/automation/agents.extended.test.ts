import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LLMock } from '@copilotkit/aimock'
import { aModelServer, anAgentOf, asked, runOf } from '../../../server/test/stage/ai-stage.ts'
import { eventually } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let models: LLMock

onStage((made) => {
  ;({ stage } = made)
})
before(async () => {
  models = await aModelServer()
})
after(() => models.stop())

const stateOf = async (id: string): Promise<string> => (await asked(stage.world, `GET ai-runs/${id}`)).ai_run.state
const until = (id: string, ...states: readonly string[]): Promise<unknown> =>
  eventually(`the run is ${states.join(' or ')}`, async () => {
    stage.world.clock.advance(1_000)
    return states.includes(await stateOf(id)) ? true : undefined
  })

test(
  'a person stores and tests a provider, creates an agent and its trigger, and sees the model calls, the tool calls, the tokens and the cost of a run',
  { skip: noBrowser },
  async () => {
    models.on({ userMessage: /fire/ }, (request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? { content: '{"urgency":"high"}', usage: { prompt_tokens: 60, completion_tokens: 4 } }
        : {
            toolCalls: [{ id: 'call_1', name: 'list_datasets', arguments: '{}' }],
            usage: { prompt_tokens: 40, completion_tokens: 2 },
          },
    )
    models.onMessage(/.*/, { content: 'hello' })
    const seen = await stage.owner()
    const { page } = seen
    const dialog = page.getByRole('dialog')
    const create = (): Promise<void> => dialog.getByRole('button', { name: 'Create', exact: true }).click()

    await page.goto(stage.url('ai-providers'))
    await page.getByRole('heading', { name: 'No AI providers yet' }).waitFor()
    await page.keyboard.press('n')
    await dialog.getByLabel('Name', { exact: true }).fill('Local models')
    await dialog.getByLabel('Address').fill(`${models.url}/v1`)
    await dialog.getByLabel('API key').fill('sk-secret')
    await dialog.getByLabel('Default model').fill('small')
    await dialog.getByRole('button', { name: 'Copy as' }).click()
    await page.getByRole('menuitem', { name: 'Copy as a CLI command' }).click()
    assert.doesNotMatch(await seen.copied(), /sk-secret/)
    await create()
    await page.getByRole('region', { name: 'Provider', exact: true }).getByRole('button', { name: 'Test' }).click()
    await dialog.getByRole('button', { name: 'Send test prompt' }).click()
    await dialog.getByText('The model responded').waitFor()
    await dialog.getByLabel('Model response').getByText('hello').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()

    await page.goto(stage.url('agents?new=1'))
    await dialog.getByLabel('Name', { exact: true }).fill('Triage')
    await dialog.getByLabel('Instructions').fill('Say how urgent the ticket is.')
    await dialog
      .getByLabel('Output schema')
      .fill('{"type":"object","properties":{"urgency":{"enum":["low","high"]}},"required":["urgency"]}')
    await dialog.getByLabel('List the project’s datasets').check()
    await dialog.getByText('Limits and prices').click()
    await dialog.getByLabel('Input token price (per million)').fill('3')
    await dialog.getByLabel('Output token price (per million)').fill('15')
    await seen.picture('agent-new')
    await create()
    await page.getByRole('region', { name: 'Agent', exact: true }).getByRole('tab', { name: 'Triggers' }).click()
    await page.getByRole('heading', { name: 'No triggers' }).waitFor()

    await page.goto(stage.url('ai-triggers?new=1'))
    await dialog.getByLabel('Name', { exact: true }).fill('Ticket triage')
    await dialog.getByLabel('Records in this dataset start the agent').fill('tickets')
    await dialog.getByLabel('Agent', { exact: true }).selectOption({ label: 'Triage' })
    await dialog.getByLabel('Store the output in').fill('triaged')
    await create()
    await page
      .getByRole('region', { name: 'Trigger', exact: true })
      .getByRole('heading', { name: 'Ticket triage' })
      .waitFor()

    const id = await runOf(stage.world, { dataset: 'tickets', payload: { text: 'fire' } })
    await until(id, 'succeeded')
    await page.goto(stage.url('ai-runs'))
    await page.getByRole('row').filter({ hasText: '"urgency":"high"' }).waitFor()
    await seen.picture('ai-runs')
    await page.getByRole('row').filter({ hasText: '"urgency":"high"' }).click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    const steps = run.getByRole('list', { name: 'Steps' }).getByRole('listitem')
    await steps.filter({ hasText: 'list_datasets' }).filter({ hasText: 'Result' }).waitFor()
    await run.getByRole('definition').filter({ hasText: '100 in, 6 out' }).waitFor()
    await run.getByRole('definition').filter({ hasText: '0.00039, in the currency' }).waitFor()
    await seen.picture('ai-run')

    await page.goto(stage.url('agents'))
    await page.getByRole('row').filter({ hasText: 'Triage' }).getByText('106').waitFor()
    await page.getByRole('img', { name: '1 of the last 1 succeeded' }).waitFor()

    await page.goto(stage.url('ai-triggers'))
    await page
      .getByRole('row')
      .filter({ hasText: 'Ticket triage' })
      .getByRole('img', { name: '1 of the last 1 succeeded' })
      .waitFor()
    await seen.close()
  },
)

test(
  'a run that cannot reach its model shows the reason and the next attempt; a person cancels it, and retries it from its last step',
  { skip: noBrowser },
  async () => {
    const { agent } = await anAgentOf(stage.world, { agent: { name: 'Nobody answers' } })
    await asked(stage.world, 'POST triggers', { name: 'Lost', dataset: 'lost', agent_id: agent })
    const id = await runOf(stage.world, { dataset: 'lost', payload: { n: 1 } })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url(`ai-runs?sel=${id}`))
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await eventually('the first attempt of the run fails', async () => {
      stage.world.clock.advance(1_000)
      return (await asked(stage.world, `GET ai-runs/${id}`)).ai_run.error === null ? undefined : true
    })
    await run.getByRole('alert').waitFor()
    if ((await stateOf(id)) === 'queued') {
      await run.getByRole('button', { name: 'Cancel run' }).click()
      await run.getByText('canceled', { exact: true }).waitFor()
      assert.equal(await stateOf(id), 'cancelled')
    }
    await run.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('The run continues from its last completed step.').waitFor()
    await seen.close()
  },
)

test('a viewer can read an agent and change nothing', { skip: noBrowser }, async () => {
  const { agent } = await anAgentOf(stage.world, { agent: { name: 'Only read' } })
  const seen = await stage.member('viewer')
  const { page } = seen
  await page.goto(stage.url(`agents?sel=${agent}`))
  await page.getByText('This requires the developer role', { exact: false }).waitFor()
  assert.equal(await page.getByLabel('Instructions').isDisabled(), true)
  await seen.close()
})
