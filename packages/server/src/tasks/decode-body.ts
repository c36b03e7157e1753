import { decodeBody, type BodyReading, type Undecoded } from '../domain/capture/body/decode-body.ts'
import { keyOfItemsIn, type ItemKeys } from '../domain/capture/idempotency.ts'
import { outlineOf } from '../domain/capture/outline.ts'
import { stringifyJson } from '../domain/json/json-text.ts'
import type { Path } from '../domain/routing/dot-path.ts'
import { task } from '../platform/heavy/task.ts'

export type DecodeLarge = {
  readonly body: Uint8Array
  readonly contentType: string | undefined
  readonly depthMax: number
  readonly reading?: BodyReading | undefined
  /** The members that the outline has. */
  readonly paths: readonly Path[]
  /** undefined: items have no keys. */
  readonly itemKeys: ItemKeys | undefined
}

/** `outline`: JSON. A payload itself would take longer to arrive than to parse. */
export type DecodedLarge =
  | {
      readonly ok: true
      readonly text: string
      readonly asSent: boolean
      readonly outline: string
      readonly keyOfItems: string | undefined
    }
  | Undecoded

/** Decodes a large body as the loop decodes a small one. */
export const decodeLarge = task(
  'body.decode',
  async ({ body, paths, itemKeys, ...how }: DecodeLarge): Promise<DecodedLarge> => {
    const { buffer, byteOffset, byteLength } = body
    const decoded = await decodeBody({ ...how, body: Buffer.from(buffer, byteOffset, byteLength) })
    if (!decoded.ok) return decoded
    const { payload, text, asSent } = decoded
    const outline = stringifyJson(outlineOf(payload, paths))
    const keyOfItems = itemKeys === undefined ? undefined : keyOfItemsIn(payload, itemKeys)
    return { ok: true, text, asSent, outline, keyOfItems }
  },
)
