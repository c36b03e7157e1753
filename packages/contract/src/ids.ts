import { z } from 'zod'
import { decodeId, HEX_KINDS, ID_PREFIXES, type IdKind } from './id-text.ts'

export { decodeId, encodeId, ID_PREFIXES, SECRET_PREFIXES, type IdKind } from './id-text.ts'

/** The input schema of an id: text in, UUID out. */
export function idInput(kind: IdKind) {
  return z
    .string()
    .regex(
      new RegExp(`^${ID_PREFIXES[kind]}_${HEX_KINDS.has(kind) ? '[0-9a-f]{32}' : '[0-7][0-9a-hjkmnp-tv-z]{25}'}$`),
      `must be an id that begins with ${ID_PREFIXES[kind]}_`,
    )
    .transform((text) => decodeId(kind, text) ?? '')
}

/** The output schema of an id: the public text. */
export const idOutput = (kind: IdKind) => z.string().describe(`${ID_PREFIXES[kind]}_…`)
