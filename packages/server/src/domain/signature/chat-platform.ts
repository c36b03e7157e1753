import {
  anyEqual,
  digest,
  malformed,
  mismatch,
  missing,
  type Signed,
  type SignatureFailure,
  staleness,
  unixSeconds,
} from './digest.ts'

const SIGNATURE = 'X-Slack-Signature'
const TIMESTAMP = 'X-Slack-Request-Timestamp'

/** `v0=<hex>` over `v0:<timestamp header>:<body>`. */
export function verifyChatPlatform(request: Signed, tolerance: number): SignatureFailure | undefined {
  const given = request.headers['x-slack-signature']
  if (given === undefined) return missing(SIGNATURE)
  const time = request.headers['x-slack-request-timestamp']
  if (time === undefined) return missing(TIMESTAMP)
  const timestamp = unixSeconds(time)
  if (timestamp === undefined) return malformed(TIMESTAMP, '<unix seconds>')

  const before = `v0:${time}:`
  const matches = request.secrets.some((key) =>
    anyEqual([given], `v0=${digest({ key, before, body: request.body, encoding: 'hex' })}`),
  )
  return matches ? staleness({ timestamp, nowSeconds: request.nowSeconds, tolerance }) : mismatch(SIGNATURE)
}
