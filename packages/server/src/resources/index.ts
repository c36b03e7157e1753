import { automation } from './automation/index.ts'
import { capture } from './capture/index.ts'
import { delivery } from './delivery/index.ts'
import { operate } from './operate/index.ts'
import { people } from './people/index.ts'
import { sources } from './sources/index.ts'
import { workspace } from './workspace/index.ts'
import { serving } from './serving/index.ts'
import type { Rooms } from './verbs.ts'

/** Every room that answers routes, by name. */
export const rooms: Rooms = {
  ...capture,
  ...delivery,
  ...people,
  ...workspace,
  ...serving,
  ...operate,
  ...automation,
  ...sources,
}
