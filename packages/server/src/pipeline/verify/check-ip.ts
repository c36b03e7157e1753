import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** The lists of the endpoint and of the ingest key both apply. If there is a list, an unknown address is refused. */
export const checkIp: Check = (_deps, { captured: { sourceIp }, receiver: { webhook, ingestKey } }) => {
  const allowed = (webhook?.allowsIp?.(sourceIp) ?? true) && (ingestKey?.allowsIp?.(sourceIp) ?? true)
  if (allowed) return undefined
  const who = sourceIp === undefined ? 'A sender with an unknown address' : `The address ${sourceIp}`
  return reject('ip_not_allowed', {
    text: `${who} is not allowed to send here. Add it to the IP allowlist of the endpoint or of the ingest key.`,
  })
}
