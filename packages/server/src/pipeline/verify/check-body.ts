import type { Deps } from '../../context.ts'
import { decodeBody, type Decoded, type Undecoded } from '../../domain/capture/body/decode-body.ts'
import { parseStoredJson } from '../../domain/json/json-text.ts'
import { LIGHT_WORK } from '../../platform/heavy/heavy.ts'
import { decodeLarge } from '../../tasks/decode-body.ts'
import { turnOf } from '../turn.ts'
import { reject } from '../types.ts'
import type { Check, Passage } from './passage.ts'

/** Decodes the body. The text of JSON stays as received. */
export const checkBody: Check = (deps, passage) => {
  const { content: body, captured } = passage
  const { headers, depthMax } = captured
  const reading = passage.receiver.webhook?.reading
  const asked = { body, contentType: headers['content-type'], depthMax, reading }
  if (body.length > LIGHT_WORK) return large(deps, passage, asked)
  const decoded = decodeBody(asked)
  return decoded instanceof Promise ? decoded.then((result) => take(passage, result)) : take(passage, decoded)
}

function take(passage: Passage, decoded: Decoded): ReturnType<Check> {
  if (!decoded.ok) return refused(decoded)
  passage.payload = decoded.payload
  passage.text = decoded.text
  passage.isBody = decoded.asSent && passage.content === passage.body
  return undefined
}

/** A thread decodes a large body. Only an outline of its payload comes back, with the members that the next rungs read. */
// oxlint-disable-next-line max-params -- the thread pool, the request, and its body
async function large(
  { heavy }: Deps,
  passage: Passage,
  asked: Parameters<typeof decodeBody>[0],
): Promise<Awaited<ReturnType<Check>>> {
  const { webhook } = passage.receiver
  const path = webhook?.idempotency?.path
  const input = {
    ...asked,
    paths: [...(webhook?.handshake.paths ?? []), ...(path === undefined ? [] : [path])],
    itemKeys: webhook?.itemKeys,
  }
  const decoded = await heavy.run(decodeLarge, { ...turnOf(passage), input, work: asked.body.length })
  if (!decoded.ok) return refused(decoded)
  const outline = parseStoredJson(decoded.outline)
  passage.payload = outline.ok ? outline.value : null
  passage.isOutline = true
  passage.keyOfItems = decoded.keyOfItems
  passage.text = decoded.text
  passage.isBody = decoded.asSent && passage.content === passage.body
  return undefined
}

const refused = ({ reason, error }: Undecoded): ReturnType<typeof reject> => reject(reason, { text: error })
