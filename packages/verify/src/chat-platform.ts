import { unixSeconds } from './digest.ts'
import { malformed, missing, type Reading, type Recipe, type Signed, type SignatureFailure } from './reading.ts'

const SIGNATURE = 'X-Slack-Signature'
const TIMESTAMP = 'X-Slack-Request-Timestamp'
const FORM = 'v0=<hex>'
const WELL_FORMED = /^v0=[0-9a-fA-F]{64}$/
const RECIPE: Recipe = { prefix: 'v0=', algorithm: 'sha256', encoding: 'hex' }

/** `v0=<hex>` over `v0:<timestamp header>:<body>`. */
export function readChatPlatform(headers: Signed['headers'], tolerance: number): Reading {
  const value = headers['x-slack-signature']
  const time = headers['x-slack-request-timestamp']
  const timestamp = time === undefined ? undefined : unixSeconds(time)
  return {
    header: SIGNATURE,
    form: FORM,
    value,
    given: value === undefined ? [] : [value],
    before: `v0:${time ?? ''}:`,
    recipe: RECIPE,
    time: { header: TIMESTAMP, timestamp, tolerance },
    failure: problemOf({ value, time, timestamp }),
  }
}

function problemOf(sent: {
  value: string | undefined
  time: string | undefined
  timestamp: number | undefined
}): SignatureFailure | undefined {
  if (sent.value === undefined) return missing(SIGNATURE)
  if (sent.time === undefined) return missing(TIMESTAMP)
  if (!WELL_FORMED.test(sent.value)) return malformed(SIGNATURE, FORM)
  return sent.timestamp === undefined ? malformed(TIMESTAMP, '<unix seconds>', 'timestamp') : undefined
}
