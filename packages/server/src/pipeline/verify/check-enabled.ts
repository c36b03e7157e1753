import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** Contract part 4, rule 3: a disabled endpoint answers 503, not 404. */
export const checkEnabled: Check = (_deps, { receiver }) =>
  receiver.webhook === undefined || receiver.webhook.enabled ? undefined : reject('endpoint_disabled')
