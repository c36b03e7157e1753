import {
  Activity,
  ChartNoAxesColumn,
  CircleDot,
  Download,
  KeyRound,
  Send,
  ShieldX,
  Split,
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

/** The screens in the side bar and the palette. */
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
          { label: 'Replay many deliveries', search: { open: 'plan' } },
          { label: 'History of replays', search: { open: 'history' } },
        ],
        views: views('state', {
          failed: 'Failed',
          retrying: 'Retrying',
          paused: 'Paused',
          pending: 'Pending',
          delivered: 'Delivered',
        }),
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
      { screen: 'rejections', label: 'Rejections', icon: ShieldX, key: 'x' },
    ],
  },
  {
    label: 'Route',
    items: [
      {
        screen: 'rules',
        label: 'Rules',
        icon: Split,
        key: 'r',
        actions: [{ label: 'New rule', search: NEW }],
        views: views('view', ON_OFF),
      },
      {
        screen: 'destinations',
        label: 'Destinations',
        icon: CircleDot,
        key: 'n',
        actions: [{ label: 'New destination', search: NEW }],
        views: views('view', ON_OFF),
      },
    ],
  },
]

export const NAVIGATION_ITEMS: readonly NavigationItem[] = NAVIGATION.flatMap(({ items }) => items)
