import type { ComponentType } from 'react'

type Module = { readonly Screen: ComponentType }
/** A screen: its path below /{workspace}/{project}/, and where its folder's door is. Loaded when somebody goes there. */
export type ScreenEntry = { readonly path: string; readonly load: () => Promise<Module> }

/** Every screen of a project. A new one is a folder here, a line in this list, and a line in shell/navigation.ts. */
export const SCREENS: readonly ScreenEntry[] = [
  { path: 'overview', load: () => import('./overview/screen.tsx') },
  { path: 'events', load: () => import('./events/screen.tsx') },
  { path: 'deliveries', load: () => import('./deliveries/screen.tsx') },
  { path: 'endpoints', load: () => import('./endpoints/screen.tsx') },
  { path: 'ingest-keys', load: () => import('./ingest-keys/screen.tsx') },
  { path: 'rejections', load: () => import('./rejections/screen.tsx') },
  { path: 'rules', load: () => import('./rules/screen.tsx') },
  { path: 'destinations', load: () => import('./destinations/screen.tsx') },
]
