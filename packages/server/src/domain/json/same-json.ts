import { isRawNumber } from './json-text.ts'

/** Whether two values have the same JSON, whatever the order of their members. A member that is undefined has none. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (isRawNumber(one)) return isRawNumber(other) && one.rawJSON === other.rawJSON
  if (isRawNumber(other) || Array.isArray(one) !== Array.isArray(other)) return false
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => sameJson(item, other[at]))
  const names = membersOf(one)
  return (
    names.length === membersOf(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(Reflect.get(one, name), Reflect.get(other, name)))
  )
}

const membersOf = (value: object): readonly string[] =>
  Object.keys(value).filter((name) => Reflect.get(value, name) !== undefined)
