import { setOwn } from '../../json/own-property.ts'

/** A form as an object. A name is used as it is (`a[b]` is not interpreted), and `__proto__` is only a key. */
export type FormFields = Record<string, unknown>

export type DecodedForm =
  | { readonly ok: true; readonly fields: FormFields }
  | { readonly ok: false; readonly error: string }

/** Collects fields one by one: a repeated key becomes a list, in the order of the body. */
export class FormCollector {
  readonly fields: FormFields = {}
  /** The number of different keys. */
  keys = 0
  readonly #repeated = new Map<string, unknown[]>()

  add(key: string, value: unknown): void {
    const list = this.#repeated.get(key)
    if (list !== undefined) {
      list.push(value)
    } else if (Object.hasOwn(this.fields, key)) {
      const both = [this.fields[key], value]
      this.#repeated.set(key, both)
      setOwn(this.fields, key, both)
    } else {
      this.keys += 1
      setOwn(this.fields, key, value)
    }
  }
}
