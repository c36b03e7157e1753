import { reject } from '../types.ts'
import type { Check } from './passage.ts'

/** Bodies are taken as they are sent; a compressed one is refused before anything reads it. */
export const checkEncoding: Check = (_deps, { captured }) => {
  const encoding = captured.headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? undefined : reject('unsupported_encoding')
}
