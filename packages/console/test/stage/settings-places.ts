import type { Page } from 'playwright-core'
import type { Place } from './place.ts'

const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { name }).first().waitFor()
const grid = (page: Page, name: string): Promise<void> =>
  page.getByRole('grid', { name }).getByRole('row').nth(1).waitFor()
const firstRow = (page: Page): Promise<void> => page.getByRole('row').nth(1).click()

/** The screens behind "Settings", and everything that opens on them. */
export const SETTINGS_PLACES: readonly Place[] = [
  {
    name: 'general settings',
    at: () => 'workspace',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('list', { name: 'Your workspaces' }).getByText('Current').waitFor()
      await look('page')
      await page.getByRole('button', { name: 'Close…' }).click()
      await page.getByRole('dialog').waitFor()
      await look('closure')
    },
  },
  {
    name: 'members',
    at: () => 'members',
    show: async ({ page }, _scene, look) => {
      await grid(page, 'Members')
      await look('list')
      await firstRow(page)
      await page.getByRole('region', { name: 'Member', exact: true }).waitFor()
      await look('member')
    },
  },
  {
    name: 'invite somebody',
    at: () => 'members?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Email').waitFor(),
  },
  {
    name: 'api keys',
    at: () => 'api-keys',
    show: async ({ page }, _scene, look) => {
      await grid(page, 'API keys')
      await look('list')
      await firstRow(page)
      await page.getByRole('region', { name: 'API key', exact: true }).waitFor()
      await look('key')
    },
  },
  {
    name: 'new api key',
    at: () => 'api-keys?new=1',
    show: ({ page }) => page.getByText('Your address is').waitFor(),
  },
  {
    name: 'audit log',
    at: () => 'audit',
    show: async ({ page }, _scene, look) => {
      await grid(page, 'Audit log')
      await look('list')
      await firstRow(page)
      await page.getByRole('region', { name: 'Change', exact: true }).waitFor()
      await look('change')
    },
  },
  {
    name: 'verify the audit log',
    at: () => 'audit',
    show: async ({ page }) => {
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Verify' }).click()
      await page.getByText('The log is intact.').waitFor()
    },
  },
  {
    name: 'connected agents',
    at: () => 'connected-agents',
    show: ({ page }) => heading(page, 'No connected agents yet'),
  },
  {
    name: 'connect an agent',
    at: () => 'connected-agents?new=1',
    show: ({ page }) => page.getByRole('dialog').getByRole('heading').first().waitFor(),
  },
  { name: 'single sign-on', at: () => 'sso', show: ({ page }) => heading(page, 'Requests') },
  { name: 'network access', at: () => 'network', show: ({ page }) => page.getByText('Your address is').waitFor() },
  { name: 'data export', at: () => 'data-export', show: ({ page }) => heading(page, 'No exports yet') },
  {
    name: 'projects',
    at: () => 'projects',
    show: async ({ page }, _scene, look) => {
      await grid(page, 'Projects')
      await look('list')
      await firstRow(page)
      await page.getByRole('region', { name: 'Project', exact: true }).waitFor()
      await look('project')
    },
  },
  {
    name: 'new project',
    at: () => 'projects?new=1',
    show: ({ page }) => page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor(),
  },
  {
    name: 'import and export',
    at: () => 'config',
    show: async ({ page }, _scene, look) => {
      await heading(page, 'Import')
      await look('file')
      await page
        .getByLabel('Or paste it')
        .fill(
          '{"version":1,"rules":[{"name":"Refunds","dataset":"refunds","enabled":true,"conditions":[],"mappings":[]}],"endpoints":[{"name":"Payments","slug":"payments-0987654321","dataset":"payments","enabled":true,"criteria":[],"mappings":[],"verification":{"scheme":"payments_provider"}}]}',
        )
      await page.getByRole('button', { name: 'Create plan' }).click()
      await page.getByRole('list', { name: 'Creates' }).waitFor()
      await look('plan')
    },
  },
  { name: 'announcements', at: () => 'announcements', show: ({ page }) => heading(page, 'No announcements') },
  {
    name: 'operators',
    at: () => 'operator',
    show: async ({ page }, _scene, look) => {
      await grid(page, 'Workspaces')
      await look('workspaces')
      await firstRow(page)
      await page.getByRole('button', { name: 'Suspend…' }).waitFor()
      await look('workspace')
      await page.getByRole('button', { name: 'Suspend…' }).click()
      await page.getByRole('dialog').getByLabel('Reason').waitFor()
      await look('suspend')
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      await page.keyboard.press('Escape')
      for (const [area, there] of AREAS) {
        await page.goto(`${page.url().split('?')[0] ?? ''}?area=${area}`)
        await page
          .getByRole('heading', { name: there })
          .or(page.getByRole('list', { name: 'Log' }))
          .first()
          .waitFor()
        await look(area)
        if (area !== 'announcements') continue
        await page.getByRole('button', { name: 'New announcement' }).first().click()
        await page.getByRole('dialog').getByLabel('Title').waitFor()
        await look('announce')
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      }
    },
  },
]

/** The other areas of the operators, with a heading that each has. A log with changes has a list in its place. */
const AREAS = [
  ['announcements', 'No announcements yet'],
  ['sso', 'No workspace has requested single sign-on'],
  ['settings', 'Agent registration'],
  ['health', 'Background jobs'],
  ['log', 'No changes yet'],
] as const
