import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, anIngestKey, post } from '../../../server/test/stage/fixtures.ts'
import { eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink
let failed: string
let sleeping: string
let recordId: string

const admin = async (line: string, body?: unknown) => {
  const [method = '', path = ''] = line.split(' ')
  const answer = await stage.world.admin(method, path, body)
  assert.ok(answer.status < 300, `${line}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

const stateOf = async (id: string): Promise<string> => (await admin(`GET workflow-instances/${id}`)).instance.state

const until = (id: string, state: string): Promise<unknown> =>
  eventually(`the run is ${state}`, async () => {
    stage.world.clock.advance(1_000)
    return (await stateOf(id)) === state ? true : undefined
  })

onStage(async (made) => {
  ;({ stage, sink } = made)
  const { world } = stage
  sink.answer({ status: 500, body: 'the ledger is locked' })
  const { destination } = await aDestination(world, {
    name: 'ledger',
    url: sink.url,
    datasets: ['nothing'],
    retry: { schedule_seconds: [0] },
  })
  const { key } = await anIngestKey(world)
  const answer = await post(`${world.baseUrl}/v1/ingest/${key}/orders`, '{"id":"ord_1","total":42}')
  recordId = answer.body.records[0].id
  const make = async (name: string, steps: readonly object[]): Promise<string> => {
    const { workflow } = await admin('POST workflows', { name, entry_dataset: 'nowhere', steps })
    return (await admin(`POST workflows/${workflow.id}/run`, { record_id: recordId })).instance.id
  }
  failed = await make('Notify the ledger', [
    { id: 'file', type: 'emit_event', dataset: 'filed', data: { total: '{{ payload.total }}' } },
    {
      id: 'notify',
      type: 'deliver',
      destination: destination.id,
      await: 'delivered',
      retry: { max_attempts: 1, backoff_seconds: 1 },
    },
  ])
  sleeping = await make('Remind later', [{ id: 'pause', type: 'delay', seconds: 86_400 }])
  await until(failed, 'failed')
  await until(sleeping, 'sleeping')
})

test(
  'the list shows how long an ongoing run has taken; a failed run shows the step, its input and the reason, and a retry continues there',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('workflow-runs'))
    await page
      .getByRole('grid', { name: 'Workflow runs' })
      .getByRole('row')
      .filter({ hasText: 'Remind later' })
      .getByText(/^\d+ s$/)
      .waitFor()
    await seen.picture('runs')
    await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Failed' }).click()
    await page.getByRole('row').filter({ hasText: 'Remind later' }).waitFor({ state: 'detached' })
    await page.getByRole('row').filter({ hasText: 'Notify the ledger' }).click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByRole('alert').getByText('notify').waitFor()
    const file = run.getByRole('region', { name: 'Step file' })
    await file.getByLabel('Input').getByText('filed').waitFor()
    await seen.picture('run-failed')
    sink.answer({ status: 200 })
    await run.getByRole('button', { name: 'Retry from the failed step' }).click()
    await page.getByText('The run continues at the failed step.', { exact: false }).waitFor()
    await until(failed, 'completed')
    await run.getByText('completed', { exact: true }).waitFor()
    assert.equal(await file.getByText('succeeded').count(), 1)
    await seen.close()
  },
)

test(
  'an ongoing run names the event that it waits for, and a cancel asks first; the list is filtered by workflow and copied with its filters',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url(`workflow-runs?view=ongoing&sel=${sleeping}`))
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByText(/^Continues/).waitFor()
    await run.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
    await run.getByText('canceled', { exact: true }).waitFor()
    assert.equal(await stateOf(sleeping), 'cancelled')
    await run.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('heading', { name: 'No run matches' }).waitFor()
    await page.getByRole('button', { name: 'Show all runs' }).click()
    await page.getByRole('button', { name: /^Workflow: / }).click()
    await page.getByRole('menuitem', { name: 'Remind later' }).click()
    await page.getByRole('row').filter({ hasText: 'Notify the ledger' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Copy the list as an MCP call' }).click()
    const copied = await seen.copied()
    const { workflow_id } = (await admin(`GET workflow-instances/${sleeping}`)).instance
    assert.deepEqual(JSON.parse(copied), {
      method: 'tools/call',
      params: { name: 'workflow_instances_list', arguments: { workflow_id } },
    })
    await seen.close()
  },
)

test('a person runs a workflow on a record, and the new run opens', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('workflow-runs'))
  await page.getByRole('button', { name: 'Run on a record' }).click()
  await page.getByRole('menuitem', { name: 'Remind later' }).click()
  const dialog = page.getByRole('dialog', { name: 'Run Remind later' })
  await dialog.getByLabel('Or enter its ID').fill(recordId)
  await dialog.getByRole('button', { name: 'Copy as' }).click()
  await page.getByRole('menuitem', { name: 'Copy as a CLI command' }).click()
  const copied = await seen.copied()
  assert.match(copied, /^npx postroad workflows run wfl_\w+ --data '\{"record_id":"rec_\w+"\}'$/)
  await dialog.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('region', { name: 'Run', exact: true }).getByText('Remind later').waitFor()
  await seen.close()
})
