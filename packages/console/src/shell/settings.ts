import { routes, type ConsoleScreen } from '@postroad/contract'
import type { useMay } from '../data/place.ts'
import type { Search } from '../data/search-text.ts'

export type SettingsItem = {
  readonly screen: ConsoleScreen
  readonly label: string
  /** The text beside the label in the palette. */
  readonly hint: string
  /** The route that the screen reads with; it declares the required role. Absent: every role. */
  readonly reads?: Parameters<typeof useMay>[0]
  /** The letter after `g` that goes there, if it has one. */
  readonly key?: string
  /** Only for operators of the installation. */
  readonly isForOperators?: true
  readonly actions?: readonly { readonly label: string; readonly search: Search }[]
}

type Group = { readonly label: string; readonly items: readonly SettingsItem[] }

/** The screens behind "Settings": its list, the palette and the title of the tab read them here. */
export const SETTINGS: readonly Group[] = [
  {
    label: 'Workspace',
    items: [
      { screen: 'workspace', label: 'General', hint: 'name, workspaces, closure' },
      {
        screen: 'members',
        label: 'Members',
        hint: 'invites, roles, ownership',
        reads: routes.members.list,
        actions: [{ label: 'Invite a member', search: { new: '1' } }],
      },
      {
        screen: 'api-keys',
        label: 'API keys',
        hint: 'for programs and agents',
        actions: [{ label: 'New API key', search: { new: '1' } }],
      },
      {
        screen: 'connected-agents',
        label: 'Connected agents',
        hint: 'programs that act for a person',
        key: 'h',
        actions: [{ label: 'Connect an agent', search: { new: '1' } }],
      },
      { screen: 'audit', label: 'Audit log', hint: 'every change', reads: routes.audit.list },
      { screen: 'sso', label: 'Single sign-on', hint: 'requests', reads: routes.sso.get },
      { screen: 'network', label: 'Network access', hint: 'allowed addresses', reads: routes.network.get },
      { screen: 'billing', label: 'Billing', hint: 'plan and usage', reads: routes.billing.get },
      { screen: 'data-export', label: 'Data export', hint: 'everything as a zip', reads: routes.dataExport.list },
    ],
  },
  {
    label: 'Projects',
    items: [
      {
        screen: 'projects',
        label: 'Projects',
        hint: 'create, rename, delete',
        actions: [{ label: 'New project', search: { new: '1' } }],
      },
      { screen: 'config', label: 'Import and export', hint: 'this project as a file' },
      { screen: 'deleted', label: 'Deleted', hint: 'restore deleted items' },
    ],
  },
  {
    label: 'Installation',
    items: [
      { screen: 'announcements', label: 'Announcements', hint: 'from the operators' },
      { screen: 'operator', label: 'Operators', hint: 'all workspaces', isForOperators: true },
    ],
  },
]

export const SETTINGS_ITEMS: readonly SettingsItem[] = SETTINGS.flatMap(({ items }) => items)
