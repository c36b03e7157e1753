import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** Reads the body, up to the limit and no further. */
export const checkSize: Check = async (deps, passage) => {
  const bytesMax = deps.config.INGEST_BODY_BYTES
  const body = await passage.captured.readBody(bytesMax)
  if (body === 'too_large') {
    return reject('payload_too_large', {
      text: `The body is larger than ${bytesMax} bytes, the most this server accepts. Send less at once.`,
    })
  }
  if (body === 'aborted')
    return reject('invalid_body', { text: 'The request ended before its whole body had arrived.' })
  passage.body = body
  return undefined
}
