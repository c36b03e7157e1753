import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** Contract part 4, rule 3: a disabled endpoint answers 503, not 404. So does a disabled ingest key. */
export const checkEnabled = ((_deps, { receiver: { webhook, ingestKey } }) => {
  if (ingestKey?.enabled === false)
    return reject('endpoint_disabled', { text: 'This ingest key is turned off. Enable it to accept requests again.' })
  return webhook === undefined || webhook.enabled ? undefined : reject('endpoint_disabled')
}) satisfies Check
