import type { Locator, Page } from 'playwright-core'
import { inProject, inWorkspace, type ReadingScreen } from './list-states.ts'
import { grid, heading } from './place.ts'

/** A screen behind "Settings". */
type SettingsScreen = ReadingScreen & {
  readonly shows: (page: Page) => Promise<void>
  /** The controls that change something that a suspended workspace refuses. */
  readonly changes?: (page: Page) => readonly Locator[]
}

const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name }).first()

const FILE =
  '{"version":1,"rules":[{"name":"Refunds","dataset":"refunds","enabled":true,"conditions":[],"mappings":[]}]}'

async function planOf(page: Page): Promise<void> {
  await page.getByLabel('Or paste it').fill(FILE)
  await page.getByRole('button', { name: 'Create plan' }).click()
}

/** The screens behind "Settings" that read, in the order of the list beside them. */
export const SETTINGS_SCREENS: readonly SettingsScreen[] = [
  {
    title: 'General',
    screen: 'workspace',
    theme: 'light',
    reads: /\/admin\/api\/workspace$/,
    shows: (page) => page.getByRole('list', { name: 'Your workspaces' }).getByText('Current').waitFor(),
    changes: (page) => [page.getByLabel('Name', { exact: true }), button(page, 'Close…')],
  },
  {
    title: 'Members',
    screen: 'members',
    theme: 'dark',
    reads: inWorkspace('members'),
    shows: (page) => grid(page, 'Members'),
    changes: (page) => [button(page, /^Invite(?: N)?$/)],
  },
  {
    title: 'API keys',
    screen: 'api-keys',
    theme: 'light',
    reads: inWorkspace('api-keys'),
    shows: (page) => grid(page, 'API keys'),
    changes: (page) => [button(page, /^New API key/)],
  },
  {
    title: 'Connected agents',
    screen: 'connected-agents',
    theme: 'dark',
    reads: inWorkspace('agents'),
    shows: (page) => heading(page, 'No connected agents yet'),
  },
  {
    title: 'Audit log',
    screen: 'audit',
    theme: 'light',
    reads: inWorkspace('audit'),
    shows: (page) => grid(page, 'Audit log'),
  },
  {
    title: 'Single sign-on',
    screen: 'sso',
    theme: 'dark',
    reads: /\/admin\/api\/sso$/,
    shows: (page) => page.getByText('Nobody has requested single sign-on yet.').waitFor(),
    changes: (page) => [button(page, 'Request SSO')],
  },
  {
    title: 'Network access',
    screen: 'network',
    theme: 'light',
    reads: /\/admin\/api\/settings\/network$/,
    shows: (page) => heading(page, 'Any address can access the workspace'),
    changes: (page) => [page.getByLabel('Allowed addresses', { exact: true }), button(page, 'Add my address')],
  },
  {
    title: 'Billing',
    screen: 'billing',
    theme: 'dark',
    reads: /\/admin\/api\/billing$/,
    shows: (page) => heading(page, 'Change plan'),
  },
  {
    title: 'Data export',
    screen: 'data-export',
    theme: 'light',
    reads: inWorkspace('data-export'),
    shows: (page) => heading(page, 'No exports yet'),
  },
  {
    title: 'Projects',
    screen: 'projects',
    theme: 'dark',
    reads: inWorkspace('projects'),
    isReadByFrame: true,
    shows: (page) => grid(page, 'Projects'),
    changes: (page) => [button(page, /^New project/)],
  },
  {
    title: 'Import and export',
    screen: 'config',
    theme: 'light',
    reads: /\/admin\/api\/projects\/[^/]+\/config\/plan$/,
    open: planOf,
    shows: (page) => page.getByRole('list', { name: 'Creates' }).waitFor(),
    changes: (page) => [button(page, /^Apply/)],
  },
  {
    title: 'Deleted',
    screen: 'deleted',
    theme: 'dark',
    reads: inProject('deletions'),
    shows: (page) => grid(page, 'Deletions'),
    changes: (page) => [button(page, /^Restore/)],
  },
  {
    title: 'Announcements',
    screen: 'announcements',
    theme: 'light',
    // The line above every screen reads only the newest ones.
    reads: /\/admin\/api\/broadcasts\?limit=200/,
    shows: (page) => heading(page, 'No announcements'),
  },
  {
    title: 'Operators',
    screen: 'operator',
    theme: 'dark',
    reads: inWorkspace('platform/workspaces'),
    shows: (page) => grid(page, 'Workspaces'),
  },
]

/** The other areas of the operators. */
export const OPERATOR_AREAS: readonly SettingsScreen[] = [
  {
    title: 'Operators, announcements',
    screen: 'operator?area=announcements',
    theme: 'light',
    reads: inWorkspace('platform/broadcasts'),
    shows: (page) => heading(page, 'No announcements yet'),
  },
  {
    title: 'Operators, SSO requests',
    screen: 'operator?area=sso',
    theme: 'dark',
    reads: inWorkspace('platform/sso-requests'),
    shows: (page) => heading(page, 'No workspace has requested single sign-on'),
  },
  {
    title: 'Operators, settings',
    screen: 'operator?area=settings',
    theme: 'light',
    reads: /\/admin\/api\/platform\/settings$/,
    shows: (page) => heading(page, 'Agent registration'),
  },
  {
    title: 'Operators, health',
    screen: 'operator?area=health',
    theme: 'dark',
    reads: /\/admin\/api\/platform\/health$/,
    shows: (page) => heading(page, 'Background jobs'),
  },
  {
    title: 'Operators, log',
    screen: 'operator?area=log',
    theme: 'light',
    reads: inWorkspace('platform/audit'),
    shows: (page) => heading(page, 'No changes yet'),
  },
]
