import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** Contract part 1, suspension 1: 403 before anything is stored or counted. */
export const checkSuspended: Check = (_deps, { receiver }) => (receiver.plan.suspended ? reject('workspace_suspended') : undefined)
