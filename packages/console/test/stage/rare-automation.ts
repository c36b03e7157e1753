import type { Page } from 'playwright-core'
import { grid, heading, press, type Place } from './place.ts'
import type { RareScene } from './rare-scene.ts'

const dialogOf = (page: Page) => page.getByRole('dialog')
const failures = (page: Page): Promise<void> =>
  page.getByRole('region', { name: 'Source', exact: true }).getByRole('alert').first().waitFor()

/** The states of the screens that automate, read and serve that need a failure, a test, or an unfinished entry. */
export const RARE_AUTOMATION: readonly Place<RareScene>[] = [
  {
    name: 'workflow with a fault',
    at: ({ automation }) => `workflows?sel=${automation.workflowId}`,
    show: async ({ page }, _scene, look) => {
      const canvas = page.getByRole('group', { name: 'Steps', exact: true })
      await canvas.getByRole('button', { name: 'Add a step here' }).last().click()
      await page.getByRole('menuitem', { name: 'Deliver' }).click()
      await canvas.getByRole('alert').getByText('destination').waitFor()
      await look('fault')
      await page.getByLabel('Destination').selectOption({ label: 'ledger' })
      await press(page, 'Review and save')
      await page.getByRole('dialog').getByLabel('Differences from version 1').waitFor()
      await look('differences')
    },
  },
  {
    name: 'older version of a workflow',
    at: ({ revisedId }) => `workflows?sel=${revisedId}&tab=versions`,
    show: async ({ page }) => {
      await page.getByRole('list', { name: 'Versions' }).getByRole('button', { name: 'Compare' }).click()
      await dialogOf(page).getByText('"dataset": "first"', { exact: false }).waitFor()
    },
  },
  {
    name: 'failed workflow run',
    at: ({ failedRunId }) => `workflow-runs?sel=${failedRunId}`,
    show: ({ page }) =>
      page.getByRole('region', { name: 'Run', exact: true }).getByRole('alert').getByText('notify').waitFor(),
  },
  {
    name: 'no workflow run matches',
    at: () => 'workflow-runs?view=cancelled',
    show: async ({ page }, _scene, look) => {
      await heading(page, 'No run matches')
      await look('list')
      await press(page, 'Run on a record')
      await page.getByRole('menuitem', { name: 'Revised' }).click()
      await page.getByRole('dialog', { name: 'Run Revised' }).getByLabel('Or enter its ID').waitFor()
      await look('run on a record')
    },
  },
  {
    name: 'AI run',
    at: ({ aiRunId }) => `ai-runs?sel=${aiRunId}`,
    show: ({ page }) =>
      page
        .getByRole('region', { name: 'Run', exact: true })
        .getByRole('list', { name: 'Steps' })
        .getByRole('listitem')
        .filter({ hasText: 'list_datasets' })
        .filter({ hasText: 'Result' })
        .waitFor(),
  },
  {
    name: 'AI run that failed',
    at: ({ failedAiRunId }) => `ai-runs?sel=${failedAiRunId}`,
    show: ({ page }) => page.getByRole('region', { name: 'Run', exact: true }).getByRole('alert').waitFor(),
  },
  {
    name: 'agents and triggers with their runs',
    at: () => 'agents',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('img', { name: '1 of the last 1 succeeded' }).waitFor()
      await look('agents')
      await page.getByRole('link', { name: 'AI triggers' }).click()
      await page.getByRole('img', { name: '1 of the last 1 succeeded' }).waitFor()
      await look('triggers')
    },
  },
  {
    name: 'agent without a trigger',
    at: ({ idleAgentId }) => `agents?sel=${idleAgentId}&tab=triggers`,
    show: ({ page }) => heading(page, 'No triggers'),
  },
  {
    name: 'new agent in full',
    at: () => 'agents?new=1',
    show: async ({ page }) => {
      await dialogOf(page).getByText('Limits and prices').click()
      await dialogOf(page).getByLabel('Input token price (per million)').waitFor()
    },
  },
  {
    name: 'no AI provider',
    at: () => 'ai-providers',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No AI providers yet'),
  },
  {
    name: 'test of an AI provider',
    at: () => 'ai-providers?q=working',
    show: async ({ page }) => {
      await page.getByRole('row').filter({ hasText: 'Working models' }).click()
      await page.getByRole('region', { name: 'Provider', exact: true }).getByRole('button', { name: 'Test' }).click()
      await dialogOf(page).getByRole('button', { name: 'Send test prompt' }).click()
      await dialogOf(page).getByText('The model responded').waitFor()
    },
  },
  {
    name: 'source that fails',
    at: ({ automation }) => `sources?sel=${automation.httpSourceId}`,
    show: async ({ page }, _scene, look) => {
      await failures(page)
      await look('HTTP')
      await page.keyboard.press('Escape')
      await page.getByRole('row').filter({ hasText: 'Prices' }).click()
      await failures(page)
      await look('WebSocket')
    },
  },
  {
    name: 'test of a new source',
    at: () => 'sources?new=1',
    show: async ({ page }, _scene, look) => {
      await press(page, /^HTTP poll/)
      await dialogOf(page).getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/items')
      await dialogOf(page).getByRole('button', { name: 'Test', exact: true }).click()
      await dialogOf(page).getByText('The test failed', { exact: false }).first().waitFor()
      await look('HTTP')
      await press(page, 'Back')
      await press(page, /^WebSocket/)
      await dialogOf(page).getByLabel('URL', { exact: true }).waitFor()
      await look('WebSocket')
      await press(page, 'Back')
      await press(page, /^Schedule/)
      await dialogOf(page).getByLabel('Expression').fill('61 9 * * 1')
      await dialogOf(page).getByRole('alert').waitFor()
      await look('schedule with a fault')
      await dialogOf(page).getByLabel('Expression').fill('0 9 * * 1')
      await dialogOf(page).getByRole('list', { name: 'Next runs' }).getByRole('listitem').nth(4).waitFor()
      await look('schedule')
    },
  },
  {
    name: 'forwarder that fails',
    at: ({ automation }) => `forwarders?sel=${automation.forwarderId}`,
    show: async ({ page }, _scene, look) => {
      const panel = page.getByRole('region', { name: 'Forwarder', exact: true })
      await panel.getByRole('alert').first().getByText('in a row', { exact: false }).waitFor()
      await look('panel')
      await panel.getByRole('button', { name: 'Close' }).click()
      await grid(page, 'Forwarding')
      await look('list')
    },
  },
  {
    name: 'test of a forwarder',
    at: () => 'forwarders?new=1',
    show: async ({ page }) => {
      await press(page, /^Any OTLP/)
      await dialogOf(page).getByLabel('Endpoint').fill('http://127.0.0.1:9')
      await dialogOf(page).getByRole('button', { name: 'Send test' }).click()
      await dialogOf(page).getByText('logs', { exact: false }).last().waitFor()
    },
  },
  {
    name: 'Data API key that is made',
    at: () => 'data-keys?new=1',
    show: async ({ page }, _scene, look) => {
      await dialogOf(page).getByLabel('Name', { exact: true }).fill('Rarely used')
      await dialogOf(page).getByRole('button', { name: 'Create', exact: true }).click()
      await dialogOf(page).getByText('The key is shown only once.').waitFor()
      await look('key')
      await dialogOf(page).getByRole('button', { name: 'Done' }).click()
      await dialogOf(page).getByText('You have not copied the key.', { exact: false }).waitFor()
      await look('question')
    },
  },
]
