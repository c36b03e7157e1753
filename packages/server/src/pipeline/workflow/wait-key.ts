import { createHash } from 'node:crypto'
import { isRawNumber } from '../../domain/json/json-text.ts'

/**
 * The key with which a record finds a wait: the path and the value that must be there. Strictly equal values have equal
 * keys. undefined: lists, objects and missing values equal nothing.
 */
export function waitKey(path: string, value: unknown): Buffer | undefined {
  const plain = isRawNumber(value) ? Number(value.rawJSON) : value
  if (plain === undefined || (typeof plain === 'object' && plain !== null)) return undefined
  return createHash('sha256').update(path).update('\0').update(JSON.stringify(plain)).digest()
}
