import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** Contract part 1, suspension 1: 403 before anything is stored or counted. A closed workspace has its own reason. */
export const checkSuspended: Check = (_deps, { receiver }) =>
  receiver.plan.inactive === undefined ? undefined : reject(receiver.plan.inactive)
