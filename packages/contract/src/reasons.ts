import { automation } from './errors/automation.ts'
import { capture } from './errors/capture.ts'
import { delivery } from './errors/delivery.ts'
import { operate } from './errors/operate.ts'
import { people } from './errors/people.ts'
import { serving } from './errors/serving.ts'
import { sources } from './errors/sources.ts'
import { surfaces } from './errors/surfaces.ts'
import { workspace } from './errors/workspace.ts'

/**
 * Every expected refusal, once: its status and its default sentence.
 * A reason that is not here does not compile; a reason that no test produces fails the suite.
 */
export const REASONS = {
  ...capture,
  ...surfaces,
  ...delivery,
  ...people,
  ...workspace,
  ...serving,
  ...operate,
  ...sources,
  ...automation,
} as const

export type Reason = keyof typeof REASONS
