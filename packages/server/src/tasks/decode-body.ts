import { decodeBody, type Undecoded } from '../domain/capture/body/decode-body.ts'
import { outlineOf } from '../domain/capture/outline.ts'
import { stringifyJson } from '../domain/json/json-text.ts'
import type { Path } from '../domain/routing/dot-path.ts'
import { task } from '../platform/heavy/task.ts'

export type DecodeLarge = {
  readonly body: Uint8Array
  readonly contentType: string | undefined
  readonly depthMax: number
  /** The members that the outline has. */
  readonly paths: readonly Path[]
}

/** `outline`: JSON. A payload itself would take longer to arrive than to parse. */
export type DecodedLarge =
  | { readonly ok: true; readonly text: string; readonly asSent: boolean; readonly outline: string }
  | Undecoded

/** Decodes a large body as the loop decodes a small one. */
export const decodeLarge = task(
  'body.decode',
  async ({ body, contentType, depthMax, paths }: DecodeLarge): Promise<DecodedLarge> => {
    const { buffer, byteOffset, byteLength } = body
    const decoded = await decodeBody({ body: Buffer.from(buffer, byteOffset, byteLength), contentType, depthMax })
    if (!decoded.ok) return decoded
    const { payload, text, asSent } = decoded
    return { ok: true, text, asSent, outline: stringifyJson(outlineOf(payload, paths)) }
  },
)
