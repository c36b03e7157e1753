import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { setSuspended } from '../../../server/test/stage/source-stage.ts'
import { automationScene, type AutomationScene } from '../stage/automation-scene.ts'
import { noBrowser, onStage, type Stage, type Theme } from '../stage/browser.ts'
import { inProject, testStates } from '../stage/list-states.ts'

let stage: Stage
let sink: Sink
let scene: AutomationScene

onStage(async (made) => {
  ;({ stage, sink } = made)
  const { destination } = await aDestination(stage.world, { url: sink.url, datasets: ['nothing'] })
  const [record] = (await post(stage.world.endpoint, '{"total":42,"note":"gift"}')).body.records
  scene = await automationScene({
    world: stage.world,
    recordId: record.id,
    destinationId: destination.id,
    dataset: record.dataset,
  })
})

const SCREENS = [
  { screen: 'workflows', title: 'Workflows', room: 'workflows', theme: 'light' },
  { screen: 'workflow-runs', title: 'Workflow runs', room: 'workflow-instances', theme: 'dark' },
  { screen: 'sources', title: 'Sources', room: 'cron-triggers', theme: 'light' },
  { screen: 'agents', title: 'Agents', room: 'ai-agents', theme: 'dark' },
  { screen: 'ai-triggers', title: 'AI triggers', room: 'triggers', theme: 'light' },
  { screen: 'ai-runs', title: 'AI runs', room: 'search/ai-runs', theme: 'dark' },
  { screen: 'ai-providers', title: 'AI providers', room: 'ai-providers', theme: 'light' },
  { screen: 'datasets', title: 'Datasets', room: 'datasets', theme: 'dark' },
  { screen: 'data-keys', title: 'Data API', room: 'data-keys', theme: 'light' },
  { screen: 'forwarders', title: 'Forwarding', room: 'forwarders', theme: 'dark' },
] as const satisfies readonly { readonly theme: Theme; readonly [name: string]: string }[]

testStates(
  () => stage,
  SCREENS.map(({ room, ...screen }) => ({ ...screen, reads: inProject(room) })),
)

const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

test('no screen is wider than the window at 375, 768, 1024 and 1440 px', { skip: noBrowser }, async () => {
  const opened = [
    ...SCREENS.map(({ screen }) => screen),
    `workflows?sel=${scene.workflowId}`,
    `workflow-runs?sel=${scene.runId}`,
    `sources?sel=${scene.httpSourceId}&tab=settings`,
    `sources?sel=${scene.cronId}`,
    `agents?sel=${scene.agentId}`,
    `datasets?sel=${scene.datasetId}`,
    `data-keys?sel=${scene.dataKeyId}`,
    `forwarders?sel=${scene.forwarderId}&tab=settings`,
  ]
  const seen = await stage.owner()
  const { page } = seen
  const wide: string[] = []
  for (const address of opened) {
    // oxlint-disable-next-line no-await-in-loop -- one page
    await page.goto(stage.url(address))
    // oxlint-disable-next-line no-await-in-loop -- one page
    await page
      .getByRole('heading', { level: 1 })
      .or(page.getByRole('heading', { level: 2 }))
      .first()
      .waitFor()
    for (const width of [375, 768, 1_024, 1_440]) {
      // oxlint-disable-next-line no-await-in-loop -- one page
      await page.setViewportSize({ width, height: 800 })
      // oxlint-disable-next-line no-await-in-loop -- one page
      if ((await overflow(page)) > 0) wide.push(`${address} at ${width}`)
    }
  }
  assert.deepEqual(wide, [])
  await seen.close()
})

test('a person edits and saves a workflow with the keyboard alone', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('workflows'))
  await page.getByRole('grid', { name: 'Workflows' }).getByRole('row').nth(1).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('follow')
  await page.getByRole('row').filter({ hasText: 'Remind' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  const canvas = page.getByRole('group', { name: 'Steps', exact: true })
  const step = (id: string) => canvas.getByRole('region', { name: `Step ${id}`, exact: true })
  await step('pause').waitFor()
  // Tab reaches the step, and its settings open with Enter.
  await step('pause').getByRole('button').first().focus()
  await page.keyboard.press('Enter')
  const form = page.getByRole('form', { name: 'Step pause' })
  await form.waitFor()
  await form.getByLabel('Length').focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('2')
  await step('pause').getByText('Wait 2 hours').waitFor()
  await step('pause').getByRole('button', { name: 'Move pause up' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Review and save' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('"seconds": 7200', { exact: false }).waitFor()
  await dialog.getByRole('button', { name: 'Save version 2' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Saved version 2.', { exact: false }).waitFor()
  const { workflow } = (await stage.world.admin('GET', `workflows/${scene.workflowId}`)).body
  assert.deepEqual(
    workflow.steps.map(({ id }: { id: string }) => id),
    ['route', 'classify', 'pause', 'paid'],
  )
  await seen.close()
})

test(
  'in a suspended workspace everything is readable, a person can still try a workflow, and a dimmed button gives the reason',
  { skip: noBrowser },
  async () => {
    await setSuspended(stage.world, true)
    try {
      const seen = await stage.owner()
      const { page } = seen
      await page.goto(stage.url(`workflows?sel=${scene.workflowId}`))
      await page.getByText('This workspace is suspended', { exact: false }).first().waitFor()
      await page.getByRole('region', { name: 'Step classify' }).getByLabel('Input').waitFor()
      const off = page.getByRole('button', { name: 'Turn off' })
      await off.waitFor()
      assert.equal(await off.isDisabled(), true)
      assert.equal(await off.getAttribute('title'), 'This workspace is suspended, so this cannot be changed.')
      for (const { screen, title } of SCREENS) {
        // oxlint-disable-next-line no-await-in-loop -- one page
        await page.goto(stage.url(screen))
        // oxlint-disable-next-line no-await-in-loop -- one page
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
      }
      await seen.close()
    } finally {
      await setSuspended(stage.world, false)
    }
  },
)
