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

/** `key` is the letter after `g` that goes there. */
export type NavigationItem = {
  readonly screen: string
  readonly label: string
  readonly icon: LucideIcon
  readonly key: string
}
type Group = { readonly label?: string; readonly items: readonly NavigationItem[] }

/** What the side bar and the palette lead to. Only what exists is here. */
export const NAVIGATION: readonly Group[] = [
  {
    items: [
      { screen: 'overview', label: 'Overview', icon: ChartNoAxesColumn, key: 'o' },
      { screen: 'events', label: 'Events', icon: Activity, key: 'e' },
      { screen: 'deliveries', label: 'Deliveries', icon: Send, key: 'd' },
    ],
  },
  {
    label: 'Capture',
    items: [
      { screen: 'endpoints', label: 'Endpoints', icon: Download, key: 'p' },
      { screen: 'ingest-keys', label: 'Ingest keys', icon: KeyRound, key: 'k' },
      { screen: 'rejections', label: 'Rejections', icon: ShieldX, key: 'x' },
    ],
  },
  {
    label: 'Route',
    items: [
      { screen: 'rules', label: 'Rules', icon: Split, key: 'r' },
      { screen: 'destinations', label: 'Destinations', icon: CircleDot, key: 'n' },
    ],
  },
]

export const NAVIGATION_ITEMS: readonly NavigationItem[] = NAVIGATION.flatMap(({ items }) => items)
