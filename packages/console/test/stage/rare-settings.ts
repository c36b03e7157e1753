import { grid, heading, press, type Place } from './place.ts'
import type { RareScene } from './rare-scene.ts'

/** The states of the screens behind "Settings" that need a second person, a failure, or an unfinished entry. */
export const RARE_SETTINGS: readonly Place<RareScene>[] = [
  {
    name: 'API key that is made',
    at: () => 'api-keys?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByLabel('Name', { exact: true }).fill('Rarely used')
      await press(page, 'Add my address')
      await look('addresses')
      await press(page, /^Create$/)
      await page.getByRole('group', { name: 'API key' }).locator('code').waitFor()
      await look('key')
    },
  },
  {
    name: 'connected agents',
    at: () => 'connected-agents',
    show: async ({ page }, _scene, look) => {
      await grid(page, 'Connected agents')
      await look('list')
      await page.getByRole('row').nth(1).click()
      await page.getByText('rules.create').first().waitFor()
      await look('agent')
    },
  },
  {
    name: 'open invite',
    at: () => 'members?new=1',
    show: async ({ page }, _scene, look) => {
      await page.getByLabel('Email').fill('ada@example.com')
      await page.getByRole('button', { name: 'Invite', exact: true }).last().click()
      // Without a mail server, the window shows the link.
      await page.getByRole('dialog', { name: /is invited$/ }).waitFor()
      await look('link')
      await press(page, 'Done')
      await page.getByRole('region', { name: 'Invite' }).getByText('invited', { exact: true }).waitFor()
    },
  },
  {
    name: 'member of the workspace',
    at: () => 'members?q=devon',
    show: async ({ page }, _scene, look) => {
      await page.getByRole('row').filter({ hasText: 'Devon Developer' }).click()
      await page.getByRole('radio', { name: /^admin/ }).check()
      await look('changed role')
      await press(page, 'Discard')
      await press(page, 'Remove…')
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).waitFor()
      await look('removal')
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      await press(page, 'Transfer…')
      await page.getByRole('button', { name: 'Transfer ownership' }).waitFor()
      await look('transfer')
    },
  },
  {
    name: 'filtered audit log',
    at: () => 'audit?action=create_rule',
    show: ({ page }) => page.getByRole('button', { name: 'Clear' }).waitFor(),
  },
  {
    name: 'file that is refused',
    at: () => 'config',
    show: async ({ page }) => {
      await page.getByLabel('Or paste it').fill('{ "version": 2 }')
      await press(page, 'Create plan')
      await page
        .getByRole('alert')
        .getByText(/version/)
        .waitFor()
    },
  },
  {
    name: 'plan of a file',
    at: () => 'config',
    within: ({ fresh }) => fresh,
    show: async ({ page }, _scene, look) => {
      await page
        .getByLabel('Or paste it')
        .fill(
          '{"version":1,"endpoints":[{"name":"Payments","slug":"payments-0987654321","dataset":"payments","enabled":true,"criteria":[],"mappings":[],"verification":{"scheme":"payments_provider"}}]}',
        )
      await press(page, 'Create plan')
      await page.getByRole('checkbox', { name: /Also delete resources that are not in the file/ }).check()
      await page.getByRole('list', { name: 'Deletes' }).waitFor()
      await look('deletes')
      await press(page, /^Apply \d changes?$/)
      await page.getByRole('list', { name: 'Missing secrets' }).waitFor()
      await look('applied')
    },
  },
  {
    name: 'new workspace',
    at: () => 'workspace',
    show: async ({ page }) => {
      await press(page, 'New workspace')
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Second place')
    },
  },
  {
    name: 'address list that locks out',
    at: () => 'network',
    show: async ({ page }) => {
      await page.getByLabel('Allowed addresses', { exact: true }).fill('203.0.113.0/24')
      await press(page, /^Save$/)
      await page.getByRole('alert').getByText('so it would lock you out').waitFor()
    },
  },
  {
    name: 'data export in progress',
    at: () => 'data-export',
    show: async ({ page }) => {
      await press(page, 'Export everything')
      await page.getByRole('list', { name: 'Data exports' }).getByText('by Olga Owner').waitFor()
    },
  },
  {
    name: 'deletions',
    at: () => 'deleted',
    show: async ({ page }, _scene, look) => {
      await grid(page, 'Deletions')
      await look('list')
      await page.getByRole('link', { name: 'Rules' }).click()
      await page.getByRole('row').filter({ hasText: 'big orders' }).click()
      await page.getByRole('button', { name: 'More' }).last().click()
      await page.getByRole('menuitem', { name: 'Delete…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      const message = page.getByRole('status').filter({ hasText: 'big orders is deleted.' })
      await message.getByRole('button', { name: 'Undo' }).waitFor()
      await look('message with Undo')
    },
  },
  {
    name: 'SSO request',
    at: () => 'sso',
    show: async ({ page }, _scene, look) => {
      await press(page, 'Request SSO')
      await page.getByLabel('Email domains').fill('example.com')
      await page.getByRole('dialog').getByRole('button', { name: 'Request SSO' }).click()
      await page.getByRole('list', { name: 'Requests' }).getByText('example.com').waitFor()
      await look('of the workspace')
      await page.goto(`${page.url().split('/sso')[0] ?? ''}/operator?area=sso`)
      await page.getByRole('button', { name: /^Decline / }).waitFor()
      await look('of all workspaces')
    },
  },
  {
    name: 'palette with a name',
    at: () => 'overview',
    show: async ({ page }) => {
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search or run' }).fill('fraud')
      await page
        .getByRole('option', { name: /destination/ })
        .first()
        .waitFor()
    },
  },
  {
    name: 'announcement',
    at: () => 'operator?area=announcements',
    show: async ({ page }, _scene, look) => {
      await press(page, 'New announcement')
      await page.getByLabel('Title').fill('Slow deliveries')
      await page.getByLabel('Text').fill('We are looking into it.')
      await page.getByRole('dialog').getByText('Critical', { exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Announce', exact: true }).click()
      const strip = page.getByRole('region', { name: 'Announcement', exact: true })
      await strip.getByText('Slow deliveries').waitFor()
      await look('critical')
      await page.getByRole('group', { name: 'Area' }).getByRole('button', { name: 'Log' }).click()
      await page.getByRole('list', { name: 'Log' }).getByText('Slow deliveries').first().waitFor()
      await look('log')
      await page.goto(`${page.url().split('/operator')[0] ?? ''}/announcements`)
      await page.getByRole('list', { name: 'Announcements' }).getByText('Slow deliveries').waitFor()
      await look('list')
    },
  },
]

const required =
  (role: string): Place<RareScene>['show'] =>
  async ({ page }) =>
    page.getByText(`This requires the ${role} role`, { exact: false }).first().waitFor()

/** The screens of a member with a low role. */
export const RARE_ROLES: readonly Place<RareScene>[] = [
  {
    name: 'agent of a viewer',
    at: ({ automation }) => `agents?sel=${automation.agentId}`,
    as: 'viewer',
    show: required('developer'),
  },
  {
    name: 'workflow of a viewer',
    at: ({ automation }) => `workflows?sel=${automation.workflowId}`,
    as: 'viewer',
    show: ({ page }) => page.getByRole('region', { name: 'Step pause' }).waitFor(),
  },
  { name: 'rule of a viewer', at: ({ ruleId }) => `rules?sel=${ruleId}`, as: 'viewer', show: required('developer') },
  {
    name: 'ingest key of a viewer',
    at: ({ ingestKeyId }) => `ingest-keys?sel=${ingestKeyId}&tab=settings`,
    as: 'viewer',
    show: required('developer'),
  },
  {
    name: 'replay of a viewer',
    at: () => 'deliveries',
    as: 'viewer',
    show: ({ page }) =>
      page
        .getByRole('list', { name: 'Replays in progress' })
        .getByRole('button', { name: 'Resume the replay' })
        .waitFor(),
  },
  {
    name: 'plan of a viewer',
    at: () => 'config',
    as: 'viewer',
    show: async (seen, scene, look) => {
      await seen.page
        .getByLabel('Or paste it')
        .fill('{"version":1,"rules":[{"name":"New","dataset":"new","enabled":true,"conditions":[],"mappings":[]}]}')
      await press(seen.page, 'Create plan')
      await required('developer')(seen, scene, look)
    },
  },
  { name: 'members of a viewer', at: () => 'members', as: 'viewer', show: required('admin') },
  { name: 'audit log of a developer', at: () => 'audit', as: 'developer', show: required('admin') },
  {
    name: 'new API key of a developer',
    at: () => 'api-keys?new=1',
    as: 'developer',
    show: ({ page }) => page.getByRole('group', { name: 'Role', exact: true }).waitFor(),
  },
  {
    name: 'operators for another person',
    at: () => 'operator',
    as: 'admin',
    show: ({ page }) => heading(page, 'For installation operators only'),
  },
]
