import type { Deps } from '../../context.ts'
import { secretPlace } from '../../resources/secret-place.ts'
import { depthMaxOf } from '../capture/from-request.ts'
import type { Address, Captured } from '../types.ts'

/** The sealed form of a request in quarantine. The body is base64. */
type Content = {
  readonly address: Address
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const placeOf = (id: string): string => secretPlace('quarantined_requests.request', id)

// oxlint-disable-next-line max-params -- the cipher, the id, and the request
export function sealRequest(
  { cipher }: Pick<Deps, 'cipher'>,
  id: string,
  of: { captured: Captured; body: Buffer },
): Buffer {
  const { address, target, headers } = of.captured
  const content: Content = { address, target, headers, body: of.body.toString('base64') }
  return cipher.seal(JSON.stringify(content), placeOf(id))
}

export type Held = {
  readonly id: string
  readonly request: Buffer
  readonly received_at: Date
  readonly source_ip: string | null
}

/** A request from quarantine → Captured, as of the time at which it came. */
export function capturedAgain({ cipher }: Pick<Deps, 'cipher'>, held: Held): Captured {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `sealRequest`
  const { address, target, headers, body } = JSON.parse(cipher.open(held.request, placeOf(held.id)).reveal()) as Content
  const bytes = Buffer.from(body, 'base64')
  return {
    address,
    asked: { kind: 'event' },
    target,
    headers,
    sourceIp: held.source_ip ?? undefined,
    receivedAt: held.received_at.getTime(),
    shareWith: () => undefined,
    readBody: (bytesMax) => Promise.resolve(bytes.length > bytesMax ? 'too_large' : bytes),
    depthMax: depthMaxOf(headers),
    again: true,
  }
}
