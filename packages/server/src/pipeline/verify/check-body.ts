import { reject, type Decoded } from '../types.ts'
import type { Check } from './passage.ts'

/** Parses the body. The text of JSON stays as received. */
export const checkBody: Check = (_deps, passage) => {
  const decoded = passage.captured.decode(passage.content)
  return decoded instanceof Promise ? decoded.then((result) => take(passage, result)) : take(passage, decoded)
}

function take(passage: Parameters<Check>[1], decoded: Decoded): ReturnType<Check> {
  if (!decoded.ok) return reject(decoded.reason, { text: decoded.error })
  passage.payload = decoded.payload
  passage.text = decoded.text
  return undefined
}
