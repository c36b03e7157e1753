import { inspect } from 'node:util'

const DOTS = '•••'

/** A value that must not be printed: it shows as dots in logs, JSON and the inspector. Only `reveal()` returns it. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toJSON(): string {
    return DOTS
  }

  toString(): string {
    return DOTS
  }

  [inspect.custom](): string {
    return DOTS
  }
}
