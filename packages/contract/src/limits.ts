import { automation } from './limits/automation.ts'
import { capture } from './limits/capture.ts'
import { delivery } from './limits/delivery.ts'
import { operate } from './limits/operate.ts'
import { people } from './limits/people.ts'
import { serving } from './limits/serving.ts'
import { sources } from './limits/sources.ts'
import { surfaces } from './limits/surfaces.ts'
import { workspace } from './limits/workspace.ts'

/** Every number of the contract's limits, with the unit last in its name. A limit that is missing here is documented nowhere. */
export const LIMITS = {
  ...capture,
  ...surfaces,
  ...delivery,
  ...people,
  ...workspace,
  ...serving,
  ...operate,
  ...automation,
  ...sources,
} as const
