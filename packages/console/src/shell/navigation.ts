import {
  Activity,
  Bell,
  Bot,
  Braces,
  ChartNoAxesColumn,
  CircleDot,
  Cpu,
  Database,
  Download,
  FileKey2,
  Forward,
  KeyRound,
  ListChecks,
  MessagesSquare,
  PanelTop,
  Send,
  ShieldX,
  Split,
  Table2,
  Workflow,
  Zap,
  type LucideIcon,
} from 'lucide-react'
import type { Search } from '../data/search-text.ts'

/** `key` is the letter after `g` that goes there. */
export type NavigationItem = {
  readonly screen: string
  readonly label: string
  readonly icon: LucideIcon
  readonly key: string
  /** The actions and views of the screen, for the palette: the label, and the search part of the address. */
  readonly actions?: readonly Linked[]
  readonly views?: readonly Linked[]
}
type Linked = { readonly label: string; readonly search: Search }
const NEW: Search = { new: '1' }

function views(member: string, labels: Readonly<Record<string, string>>): readonly Linked[] {
  return Object.entries(labels).map(([id, label]) => ({ label, search: { [member]: id } }))
}

const ON_OFF = { on: 'On', off: 'Off' } as const

type Group = { readonly label?: string; readonly items: readonly NavigationItem[] }

/** The screens in the side bar and the palette. The first group has no label, and a narrow window shows it alone. A group without a screen is not shown. */
export const NAVIGATION: readonly Group[] = [
  {
    items: [
      { screen: 'overview', label: 'Overview', icon: ChartNoAxesColumn, key: 'o' },
      {
        screen: 'events',
        label: 'Events',
        icon: Activity,
        key: 'e',
        views: views('view', { failing: 'Failing', rejected: 'Rejected' }),
      },
      {
        screen: 'deliveries',
        label: 'Deliveries',
        icon: Send,
        key: 'd',
        actions: [
          { label: 'Replay deliveries in bulk', search: { open: 'plan' } },
          { label: 'Replay history', search: { open: 'history' } },
        ],
        views: views('state', {
          failed: 'Failed',
          retrying: 'Retrying',
          paused: 'Paused',
          pending: 'Pending',
          delivered: 'Delivered',
        }),
      },
      {
        screen: 'alerts',
        label: 'Alerts',
        icon: Bell,
        key: 't',
        views: views('view', { resolved: 'Resolved', all: 'All' }),
      },
    ],
  },
  {
    label: 'Capture',
    items: [
      {
        screen: 'endpoints',
        label: 'Endpoints',
        icon: Download,
        key: 'p',
        actions: [{ label: 'New endpoint', search: NEW }],
        views: views('view', { signed: 'Signed', open: 'Open', off: 'Off' }),
      },
      {
        screen: 'ingest-keys',
        label: 'Ingest keys',
        icon: KeyRound,
        key: 'k',
        actions: [{ label: 'New ingest key', search: NEW }],
        views: views('view', { ...ON_OFF, unused: 'Never used' }),
      },
      {
        screen: 'sources',
        label: 'Sources',
        icon: Database,
        key: 's',
        actions: [{ label: 'New source', search: NEW }],
        views: views('view', {
          databases: 'Databases',
          http: 'HTTP',
          schedules: 'Schedules',
          sockets: 'WebSockets',
          trouble: 'With problems',
        }),
      },
      {
        screen: 'rules',
        label: 'Rules',
        icon: Split,
        key: 'r',
        actions: [{ label: 'New rule', search: NEW }],
        views: views('view', ON_OFF),
      },
      { screen: 'rejections', label: 'Rejections', icon: ShieldX, key: 'x' },
    ],
  },
  {
    label: 'Deliver',
    items: [
      {
        screen: 'destinations',
        label: 'Destinations',
        icon: CircleDot,
        key: 'n',
        actions: [{ label: 'New destination', search: NEW }],
        views: views('view', ON_OFF),
      },
      {
        screen: 'transforms',
        label: 'Transforms',
        icon: Braces,
        key: 't',
        actions: [{ label: 'New transform', search: NEW }],
        views: views('view', { unused: 'Unused' }),
      },
    ],
  },
  {
    label: 'Automate',
    items: [
      {
        screen: 'workflows',
        label: 'Workflows',
        icon: Workflow,
        key: 'w',
        actions: [{ label: 'New workflow', search: NEW }],
        views: views('view', ON_OFF),
      },
      {
        screen: 'workflow-runs',
        label: 'Workflow runs',
        icon: ListChecks,
        key: 'i',
        views: views('view', {
          ongoing: 'Ongoing',
          failed: 'Failed',
          completed: 'Completed',
          cancelled: 'Canceled',
        }),
      },
      {
        screen: 'agents',
        label: 'Agents',
        icon: Bot,
        key: 'a',
        actions: [{ label: 'New agent', search: NEW }],
      },
      {
        screen: 'ai-triggers',
        label: 'AI triggers',
        icon: Zap,
        key: 'q',
        actions: [{ label: 'New AI trigger', search: NEW }],
        views: views('view', ON_OFF),
      },
      {
        screen: 'ai-runs',
        label: 'AI runs',
        icon: MessagesSquare,
        key: 'u',
        views: views('view', { running: 'Running', succeeded: 'Succeeded', failed: 'Failed', skipped: 'Skipped' }),
      },
      {
        screen: 'ai-providers',
        label: 'AI providers',
        icon: Cpu,
        key: 'v',
        actions: [{ label: 'New AI provider', search: NEW }],
      },
    ],
  },
  {
    label: 'Serve',
    items: [
      {
        screen: 'portals',
        label: 'Portals',
        icon: PanelTop,
        key: 'l',
        actions: [{ label: 'New portal', search: NEW }],
        views: views('view', ON_OFF),
      },
      {
        screen: 'datasets',
        label: 'Datasets',
        icon: Table2,
        key: 'b',
        actions: [{ label: 'New dataset', search: NEW }],
      },
      {
        screen: 'data-keys',
        label: 'Data API',
        icon: FileKey2,
        key: 'y',
        actions: [{ label: 'New Data API key', search: NEW }],
      },
      {
        screen: 'forwarders',
        label: 'Forwarding',
        icon: Forward,
        key: 'f',
        actions: [{ label: 'New forwarder', search: NEW }],
        views: views('view', ON_OFF),
      },
    ],
  },
]

export const NAVIGATION_ITEMS: readonly NavigationItem[] = NAVIGATION.flatMap(({ items }) => items)
