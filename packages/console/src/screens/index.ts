import type { ConsoleScreen } from '@postroad/contract'
import type { ComponentType } from 'react'

type Module = { readonly Screen: ComponentType }
/** A screen: its path below /{workspace}/{project}/, and its module, which is loaded when a person opens it. */
export type ScreenEntry = { readonly path: ConsoleScreen; readonly load: () => Promise<Module> }

/** Every screen of a project. A new one is a folder here, a line in this list, one in the contract (`console-screens.ts`), and one in shell/navigation.ts. */
export const SCREENS: readonly ScreenEntry[] = [
  { path: 'overview', load: () => import('./workspace/overview/screen.tsx') },
  { path: 'events', load: () => import('./capture/events/screen.tsx') },
  { path: 'deliveries', load: () => import('./delivery/deliveries/screen.tsx') },
  { path: 'endpoints', load: () => import('./capture/endpoints/screen.tsx') },
  { path: 'ingest-keys', load: () => import('./capture/ingest-keys/screen.tsx') },
  { path: 'rejections', load: () => import('./capture/rejections/screen.tsx') },
  { path: 'rules', load: () => import('./capture/rules/screen.tsx') },
  { path: 'destinations', load: () => import('./delivery/destinations/screen.tsx') },
  { path: 'billing', load: () => import('./workspace/billing/screen.tsx') },
]
