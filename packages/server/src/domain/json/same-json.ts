import { isRawNumber } from './json-text.ts'

/** Whether two values have the same JSON, whatever the order of their members. A member that is undefined has none. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (!isObject(one) || !isObject(other)) return false
  if (isRawNumber(one)) return isRawNumber(other) && one.rawJSON === other.rawJSON
  if (Array.isArray(one)) return Array.isArray(other) && sameLists(one, other)
  return !isRawNumber(other) && !Array.isArray(other) && sameObjects(one, other)
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const sameLists = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((item, at) => sameJson(item, other[at]))

function sameObjects(one: object, other: object): boolean {
  const names = membersOf(one)
  return (
    names.length === membersOf(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(Reflect.get(one, name), Reflect.get(other, name)))
  )
}

const membersOf = (value: object): readonly string[] =>
  Object.keys(value).filter((name) => Reflect.get(value, name) !== undefined)
