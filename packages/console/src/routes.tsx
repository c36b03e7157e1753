import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type AnyRouter,
} from '@tanstack/react-router'
import { parseSearch, searchText } from './data/search-text.ts'
import { Broken } from './screens/home/broken.tsx'
import { NowhereInside, NowhereOutside } from './screens/home/nowhere.tsx'
import { SCREENS } from './screens/index.ts'
import { loaded } from './ui/loaded.ts'

/** Every path of the console: `/`, `/settings/billing`, `/settings/agents`, and the screens of a project under `/{workspace}/{project}/`. */
export function createConsoleRouter(): AnyRouter {
  const root = createRootRoute({ component: Outlet, notFoundComponent: NowhereOutside })
  const home = createRoute({
    getParentRoute: () => root,
    path: '/',
    component: lazyRouteComponent(() => loaded(() => import('./screens/home/screen.tsx')), 'Home'),
  })
  const billing = createRoute({
    getParentRoute: () => root,
    path: '/settings/billing',
    component: lazyRouteComponent(() => loaded(() => import('./screens/home/to-billing.tsx')), 'ToBilling'),
  })
  const agents = createRoute({
    getParentRoute: () => root,
    path: '/settings/agents',
    component: lazyRouteComponent(() => loaded(() => import('./screens/home/to-agents.tsx')), 'ToAgents'),
  })
  const project = createRoute({
    getParentRoute: () => root,
    path: '/$workspace/$project',
    component: lazyRouteComponent(() => loaded(() => import('./shell/shell.tsx')), 'Shell'),
    notFoundComponent: NowhereInside,
  })
  const screens = SCREENS.map(({ path, load }) =>
    createRoute({ getParentRoute: () => project, path, component: lazyRouteComponent(() => loaded(load), 'Screen') }),
  )
  return createRouter({
    routeTree: root.addChildren([home, billing, agents, project.addChildren(screens)]),
    parseSearch,
    stringifySearch: searchText,
    defaultErrorComponent: Broken,
    defaultPreload: 'intent',
    defaultPreloadDelay: 60,
    notFoundMode: 'fuzzy',
  })
}
