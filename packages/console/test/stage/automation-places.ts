import type { Page } from 'playwright-core'
import { eachTab, grid, heading, type Place } from './place.ts'

const panel = (page: Page, name: string): Promise<void> => page.getByRole('region', { name, exact: true }).waitFor()

/** The screens that automate, read from elsewhere, and serve what is stored. */
export const AUTOMATION_PLACES: readonly Place[] = [
  { name: 'workflows', at: () => 'workflows', show: ({ page }) => grid(page, 'Workflows') },
  {
    name: 'workflow',
    at: ({ automation }) => `workflows?sel=${automation.workflowId}`,
    show: async (seen, _scene, look) => {
      const { page } = seen
      await page.getByRole('region', { name: 'Step pause' }).waitFor()
      await page.getByText(/^This record (?:starts|does not start) a run$/).waitFor()
      await look('Steps')
      await page
        .getByRole('region', { name: 'Step paid' })
        .getByRole('button', { name: /^Wait for an event/ })
        .click()
      await page.getByRole('form', { name: 'Step paid' }).waitFor()
      await look('a step')
      await page.getByRole('group', { name: 'View', exact: true }).getByRole('button', { name: 'JSON' }).click()
      await page.getByRole('textbox', { name: 'Definition' }).waitFor()
      await look('JSON')
      await eachTab(seen, ['Runs', 'Versions'], look)
    },
  },
  {
    name: 'new workflow',
    at: () => 'workflows?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'no workflow',
    at: () => 'workflows',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No workflows yet'),
  },
  { name: 'workflow runs', at: () => 'workflow-runs', show: ({ page }) => grid(page, 'Workflow runs') },
  {
    name: 'workflow run',
    at: ({ automation }) => `workflow-runs?sel=${automation.runId}`,
    show: ({ page }) => page.getByRole('region', { name: 'Step pause' }).waitFor(),
  },
  {
    name: 'no workflow run',
    at: () => 'workflow-runs',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No workflow runs yet'),
  },
  { name: 'sources', at: () => 'sources', show: ({ page }) => grid(page, 'Sources') },
  {
    name: 'source',
    at: ({ automation }) => `sources?sel=${automation.httpSourceId}`,
    show: async (seen, _scene, look) => {
      await panel(seen.page, 'Source')
      await eachTab(seen, ['Status', 'Settings'], look)
    },
  },
  {
    name: 'schedule',
    at: ({ automation }) => `sources?sel=${automation.cronId}`,
    show: async (seen, _scene, look) => {
      await seen.page.getByRole('list', { name: 'Next runs' }).getByRole('listitem').nth(4).waitFor()
      await eachTab(seen, ['Status', 'Settings'], look)
    },
  },
  {
    name: 'socket',
    at: ({ automation }) => `sources?sel=${automation.socketId}`,
    show: async (seen, _scene, look) => {
      await panel(seen.page, 'Source')
      await eachTab(seen, ['Status', 'Settings'], look)
    },
  },
  {
    name: 'new source',
    at: () => 'sources?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('button', { name: /^PostgreSQL New/ }).waitFor()
      await look('kinds')
      await page.getByRole('button', { name: /^PostgreSQL New/ }).click()
      await page.getByLabel('Connection string').waitFor()
      await look('database')
    },
  },
  {
    name: 'no source',
    at: () => 'sources',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No sources yet'),
  },
  { name: 'agents', at: () => 'agents', show: ({ page }) => grid(page, 'Agents') },
  {
    name: 'agent',
    at: ({ automation }) => `agents?sel=${automation.agentId}`,
    show: async (seen, _scene, look) => {
      await panel(seen.page, 'Agent')
      await eachTab(seen, ['Settings', 'Triggers', 'Runs'], look)
    },
  },
  {
    name: 'new agent',
    at: () => 'agents?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Instructions').waitFor(),
  },
  {
    name: 'no agent',
    at: () => 'agents',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No agents yet'),
  },
  { name: 'AI triggers', at: () => 'ai-triggers', show: ({ page }) => grid(page, 'AI triggers') },
  {
    name: 'AI trigger',
    at: ({ automation }) => `ai-triggers?sel=${automation.triggerId}`,
    show: ({ page }) => panel(page, 'Trigger'),
  },
  { name: 'AI runs', at: () => 'ai-runs', show: ({ page }) => heading(page, 'AI runs') },
  {
    name: 'no AI run',
    at: () => 'ai-runs',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No AI runs yet'),
  },
  { name: 'AI providers', at: () => 'ai-providers', show: ({ page }) => grid(page, 'AI providers') },
  {
    name: 'AI provider',
    at: ({ automation }) => `ai-providers?sel=${automation.providerId}`,
    show: ({ page }) => panel(page, 'Provider'),
  },
  {
    name: 'new AI trigger',
    at: () => 'ai-triggers?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'new AI provider',
    at: () => 'ai-providers?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'new dataset',
    at: () => 'datasets?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'new Data API key',
    at: () => 'data-keys?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  { name: 'datasets', at: () => 'datasets', show: ({ page }) => grid(page, 'Datasets') },
  {
    name: 'dataset',
    at: ({ automation }) => `datasets?sel=${automation.datasetId}`,
    show: async (seen, _scene, look) => {
      await panel(seen.page, 'Dataset')
      await eachTab(seen, ['Schema', 'Drift', 'Export', 'Settings'], look)
    },
  },
  { name: 'Data API', at: () => 'data-keys', show: ({ page }) => grid(page, 'Data API') },
  {
    name: 'Data API key',
    at: ({ automation }) => `data-keys?sel=${automation.dataKeyId}`,
    show: async (seen, _scene, look) => {
      await panel(seen.page, 'Key')
      await eachTab(seen, ['Use', 'Settings'], look)
    },
  },
  {
    name: 'no Data API key',
    at: () => 'data-keys',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'No Data API keys yet'),
  },
  { name: 'alerts', at: () => 'alerts', show: ({ page }) => grid(page, 'Alerts') },
  {
    name: 'alert',
    at: ({ automation }) => `alerts?sel=${automation.alertId}`,
    show: ({ page }) => panel(page, 'Alert'),
  },
  {
    name: 'alert rules',
    at: () => 'alerts',
    show: async ({ page }) => {
      await page.getByRole('button', { name: 'Rules', exact: true }).click()
      await page.getByRole('list', { name: 'Rules' }).waitFor()
      await page.getByRole('button', { name: 'Add quiet hours' }).click()
    },
  },
  {
    name: 'new alert channel',
    at: () => 'alerts',
    show: async ({ page }) => {
      await page.getByRole('button', { name: 'Add a channel' }).first().click()
      await page.getByRole('combobox', { name: 'Channel' }).waitFor()
    },
  },
  {
    name: 'no alerts',
    at: () => 'alerts',
    within: ({ fresh }) => fresh,
    show: ({ page }) => heading(page, 'Nothing needs attention'),
  },
  { name: 'forwarders', at: () => 'forwarders', show: ({ page }) => grid(page, 'Forwarding') },
  {
    name: 'forwarder',
    at: ({ automation }) => `forwarders?sel=${automation.forwarderId}`,
    show: async (seen, _scene, look) => {
      await panel(seen.page, 'Forwarder')
      await eachTab(seen, ['Status', 'Settings'], look)
    },
  },
  {
    name: 'new forwarder',
    at: () => 'forwarders?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('button', { name: /^Datadog/ }).waitFor()
      await look('presets')
      await page.getByRole('button', { name: /^Datadog/ }).click()
      await page.getByLabel('Endpoint').waitFor()
      await look('form')
    },
  },
]
