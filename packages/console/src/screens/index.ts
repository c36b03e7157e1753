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
  { path: 'alerts', load: () => import('./workspace/alerts/screen.tsx') },
  { path: 'endpoints', load: () => import('./capture/endpoints/screen.tsx') },
  { path: 'ingest-keys', load: () => import('./capture/ingest-keys/screen.tsx') },
  { path: 'rejections', load: () => import('./capture/rejections/screen.tsx') },
  { path: 'rules', load: () => import('./capture/rules/screen.tsx') },
  { path: 'destinations', load: () => import('./delivery/destinations/screen.tsx') },
  { path: 'transforms', load: () => import('./delivery/transforms/screen.tsx') },
  { path: 'sources', load: () => import('./sources/sources/screen.tsx') },
  { path: 'workflows', load: () => import('./automation/workflows/screen.tsx') },
  { path: 'workflow-runs', load: () => import('./automation/workflow-runs/screen.tsx') },
  { path: 'agents', load: () => import('./automation/agents/screen.tsx') },
  { path: 'ai-triggers', load: () => import('./automation/ai-triggers/screen.tsx') },
  { path: 'ai-runs', load: () => import('./automation/ai-runs/screen.tsx') },
  { path: 'ai-providers', load: () => import('./automation/ai-providers/screen.tsx') },
  { path: 'datasets', load: () => import('./capture/datasets/screen.tsx') },
  { path: 'data-keys', load: () => import('./serving/data-keys/screen.tsx') },
  { path: 'forwarders', load: () => import('./serving/forwarders/screen.tsx') },
  { path: 'deleted', load: () => import('./workspace/deleted/screen.tsx') },
  { path: 'connected-agents', load: () => import('./people/connected-agents/screen.tsx') },
  { path: 'portals', load: () => import('./serving/portals/screen.tsx') },
  { path: 'billing', load: () => import('./workspace/billing/screen.tsx') },
  { path: 'workspace', load: () => import('./workspace/general/screen.tsx') },
  { path: 'members', load: () => import('./people/members/screen.tsx') },
  { path: 'api-keys', load: () => import('./people/api-keys/screen.tsx') },
  { path: 'audit', load: () => import('./workspace/audit/screen.tsx') },
  { path: 'sso', load: () => import('./people/sso/screen.tsx') },
  { path: 'network', load: () => import('./workspace/network/screen.tsx') },
  { path: 'data-export', load: () => import('./workspace/data-export/screen.tsx') },
  { path: 'projects', load: () => import('./workspace/projects/screen.tsx') },
  { path: 'config', load: () => import('./workspace/config/screen.tsx') },
  { path: 'announcements', load: () => import('./operate/announcements/screen.tsx') },
  { path: 'operator', load: () => import('./operate/operator/screen.tsx') },
]
