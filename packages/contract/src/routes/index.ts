import { capture } from './capture/index.ts'
import { delivery } from './delivery/index.ts'
import { people } from './people/index.ts'
import { workspace } from './workspace/index.ts'
import { serving } from './serving/index.ts'

/** The admin API by group. A room belongs to one group; a new group is a line here and one in the server's resources. */
export type RouteGroups = {
  readonly capture: typeof capture
  readonly delivery: typeof delivery
  readonly people: typeof people
  readonly workspace: typeof workspace
  readonly serving: typeof serving
}

/** The whole admin API as one value: rooms by name, routes by verb. */
export const routes = { ...capture, ...delivery, ...people, ...workspace, ...serving } as const
export type Routes = typeof routes
