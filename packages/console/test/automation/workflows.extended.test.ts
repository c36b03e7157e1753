import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, anIngestKey, post } from '../../../server/test/stage/fixtures.ts'
import { eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink
let key: string

onStage(async (made) => {
  ;({ stage, sink } = made)
  await aDestination(stage.world, { name: 'ledger', url: sink.url, datasets: ['nothing'] })
  ;({ key } = await anIngestKey(stage.world))
})

/** Files a record into a dataset; returns its id. */
async function file(dataset: string, payload: unknown): Promise<string> {
  const answer = await post(`${stage.world.baseUrl}/v1/ingest/${key}/${dataset}`, JSON.stringify(payload))
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.records[0].id
}

const admin = async (line: string, body?: unknown) => {
  const [method = '', path = ''] = line.split(' ')
  const answer = await stage.world.admin(method, path, body)
  assert.ok(answer.status < 300, `${line}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

test(
  'a person creates a workflow from a pattern, tries it, edits it, compares it with the stored version, saves it and turns it on; its run shows the values',
  { skip: noBrowser },
  async () => {
    await file('orders', { id: 'ord_1', total: 42 })
    await file('orders', { id: 'ord_2', total: 5_000 })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('workflows'))
    await page.getByRole('heading', { name: 'No workflows yet' }).waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Order follow-up')
    await dialog.getByLabel('Records in this dataset start a run').fill('orders')
    await dialog.getByText('Branch', { exact: true }).click()
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()

    const canvas = page.getByRole('group', { name: 'Steps', exact: true })
    const step = (id: string) => canvas.getByRole('region', { name: `Step ${id}`, exact: true })
    await step('decide').waitFor()
    await page.getByText('This record starts a run').waitFor()
    await canvas
      .getByRole('group', { name: 'Branch large of decide' })
      .getByText('· taken', { exact: false })
      .first()
      .waitFor()
    await step('file_large').getByLabel('Input').getByText('5000').waitFor()
    await seen.picture('workflow-canvas')

    // A step is added where the person wants it, without a pointer.
    await canvas.getByRole('button', { name: 'Add a step here' }).last().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Deliver' }).waitFor()
    await page.getByRole('menuitem', { name: 'Deliver' }).press('Enter')
    await step('notify').getByRole('alert').getByText('destination').waitFor()
    await seen.picture('workflow-fault')
    const settings = page.getByRole('form', { name: 'Step notify' })
    await settings.getByLabel('Destination').selectOption({ label: 'ledger' })
    await step('notify').getByLabel('Input').first().waitFor()
    await seen.picture('workflow-edited')

    await page.getByRole('button', { name: 'Review and save' }).click()
    const differences = page.getByRole('dialog').getByLabel('Differences from version 1')
    await differences.getByText('"id": "notify"', { exact: false }).waitFor()
    await seen.picture('workflow-diff')
    await page.getByRole('button', { name: 'Save version 2' }).click()
    await page.getByText('Saved version 2.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'Review and save' }).waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('Each matching record starts a run.').first().waitFor()
    const [workflow] = (await admin('GET workflows')).workflows
    assert.equal(workflow.active, true)
    await eventually('a run is complete', async () => {
      await file('orders', { id: 'ord_3', total: 1 })
      stage.world.clock.advance(1_000)
      return (await admin(`GET workflow-instances?workflow_id=${workflow.id}`)).instances.find(
        ({ state }: { state: string }) => state === 'completed',
      )
    })
    await page.getByRole('tab', { name: 'Runs' }).click()
    const runs = page.getByRole('list', { name: 'Runs' })
    await runs.getByText('completed').first().waitFor()
    await runs.getByRole('link').filter({ hasText: 'completed' }).last().click()
    const run = page.getByRole('region', { name: 'Run', exact: true })
    await run.getByRole('group', { name: 'Otherwise branch of decide' }).getByText('· taken').waitFor()
    await run.getByRole('region', { name: 'Step file_small' }).getByRole('link', { name: 'Open the event' }).waitFor()
    await run
      .getByRole('region', { name: 'Step file_large' })
      .getByText('Skipped, because the run took another branch.')
      .waitFor()
    await run.getByRole('region', { name: 'Step notify' }).getByRole('link', { name: 'Open the delivery' }).waitFor()
    await seen.picture('workflow-run')
    await seen.close()
  },
)

test(
  'a person compares an older version and restores it as a new one, and the page asks before it discards unsaved steps',
  { skip: noBrowser },
  async () => {
    const { workflow } = await admin('POST workflows', {
      name: 'Renamed twice',
      entry_dataset: 'versions',
      active: false,
      steps: [{ id: 'file', type: 'emit_event', dataset: 'first' }],
    })
    await admin(`PUT workflows/${workflow.id}`, {
      name: 'Renamed twice',
      entry_dataset: 'versions',
      active: false,
      steps: [{ id: 'file', type: 'emit_event', dataset: 'second' }],
    })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url(`workflows?sel=${workflow.id}&tab=versions`))
    await page.getByRole('list', { name: 'Versions' }).getByRole('button', { name: 'Compare' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('"dataset": "first"', { exact: false }).waitFor()
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await dialog.getByRole('button', { name: 'Save version 3' }).click()
    await page.getByText('Saved version 3.', { exact: false }).waitFor()
    assert.equal((await admin(`GET workflows/${workflow.id}`)).workflow.steps[0].dataset, 'first')

    await page.getByRole('tab', { name: 'Steps' }).click()
    await page
      .getByRole('region', { name: 'Step file' })
      .getByRole('button', { name: /^Store an event/ })
      .click()
    await page.getByRole('form', { name: 'Step file' }).getByLabel('Dataset', { exact: true }).fill('third')
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByRole('dialog', { name: 'Discard changes?' }).getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByText('Store the payload in first').waitFor()

    await page.getByRole('group', { name: 'View', exact: true }).getByRole('button', { name: 'JSON' }).click()
    await page.getByRole('textbox', { name: 'Definition' }).waitFor()
    await seen.close()
  },
)

test(
  'a viewer reads a workflow and tries it, and every button for a change is dimmed with its reason',
  { skip: noBrowser },
  async () => {
    const { workflow } = await admin('POST workflows', {
      name: 'Read only',
      entry_dataset: 'read',
      steps: [{ id: 'file', type: 'emit_event', dataset: 'seen', data: { total: '{{ payload.total }}' } }],
    })
    const seen = await stage.member('viewer')
    const { page } = seen
    await page.goto(stage.url(`workflows?sel=${workflow.id}`))
    await page.getByRole('region', { name: 'Step file' }).getByLabel('Input').getByText('42.5').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Add a step here' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Turn off' }).isDisabled(), true)
    assert.equal(await page.getByRole('button', { name: 'Run on a record' }).isDisabled(), true)
    await page
      .getByRole('region', { name: 'Step file' })
      .getByRole('button', { name: /^Store an event/ })
      .click()
    assert.equal(await page.getByLabel('Dataset', { exact: true }).isDisabled(), true)
    await seen.close()
  },
)

test(
  'text that is not JSON stays in its field until a person corrects it, and Discard brings the stored definition back',
  { skip: noBrowser },
  async () => {
    const { workflow } = await admin('POST workflows', {
      name: 'Half written',
      entry_dataset: 'halves',
      active: false,
      steps: [
        { id: 'one', type: 'emit_event', dataset: 'first', data: { id: 1 } },
        { id: 'two', type: 'emit_event', dataset: 'second' },
      ],
    })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url(`workflows?sel=${workflow.id}`))
    const open = (id: string): Promise<void> =>
      page
        .getByRole('region', { name: `Step ${id}` })
        .getByRole('button', { name: /^Store an event/ })
        .click()
    await open('one')
    await page.getByRole('form', { name: 'Step one' }).getByLabel('Payload').fill('{"id":')
    await open('two')
    await page.getByRole('form', { name: 'Step two' }).waitFor()
    await open('one')
    const payload = page.getByRole('form', { name: 'Step one' }).getByLabel('Payload')
    assert.equal(await payload.inputValue(), '{"id":')
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true)
    await payload.fill('{"id":2}')
    await page.getByRole('button', { name: 'Review and save' }).and(page.locator(':enabled')).waitFor()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()

    const views = page.getByRole('group', { name: 'View', exact: true })
    await views.getByRole('button', { name: 'JSON' }).click()
    const definition = page.getByRole('textbox', { name: 'Definition' })
    await definition.getByText('"Half written"').waitFor()
    await definition.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{"steps":')
    await page.getByText('Correct or discard it', { exact: false }).first().waitFor()
    await views.getByRole('button', { name: 'Canvas' }).click()
    await definition.getByText('{"steps":').waitFor()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await definition.getByText('"Half written"').waitFor()
    await views.getByRole('button', { name: 'Canvas' }).click()
    await page.getByRole('region', { name: 'Step one' }).waitFor()
    await seen.close()
  },
)
