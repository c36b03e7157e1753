/** Sets an own property with any name: even `__proto__` is data, and no setter of a prototype runs. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else Reflect.set(target, key, value)
}
