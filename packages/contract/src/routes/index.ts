import { automation } from './automation/index.ts'
import { capture } from './capture/index.ts'
import { delivery } from './delivery/index.ts'
import { operate } from './operate/index.ts'
import { people } from './people/index.ts'
import { sources } from './sources/index.ts'
import { workspace } from './workspace/index.ts'
import { serving } from './serving/index.ts'

/** The admin API by group. Each room belongs to one group. A new group is a line here and a line in the server's resources. */
export const routeGroups = { capture, delivery, people, workspace, serving, operate, automation, sources } as const
export type RouteGroups = typeof routeGroups

/** The whole admin API as one value: rooms by name, routes by verb. */
export const routes = {
  ...capture,
  ...delivery,
  ...people,
  ...workspace,
  ...serving,
  ...operate,
  ...automation,
  ...sources,
} as const
export type Routes = typeof routes
