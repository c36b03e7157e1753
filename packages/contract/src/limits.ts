import { capture } from './limits/capture.ts'
import { delivery } from './limits/delivery.ts'
import { people } from './limits/people.ts'
import { serving } from './limits/serving.ts'
import { surfaces } from './limits/surfaces.ts'
import { workspace } from './limits/workspace.ts'

/** Every number of the contract's limits, unit last in its name. A limit that is not here is a limit nobody documents. */
export const LIMITS = { ...capture, ...surfaces, ...delivery, ...people, ...workspace, ...serving } as const
