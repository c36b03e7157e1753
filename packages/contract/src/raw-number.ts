/** A number that JavaScript would round: its own digits. */
export class RawNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Writes the number as it was read, if the engine can. */
  toJSON(): unknown {
    const raw: unknown = Reflect.get(JSON, 'rawJSON')
    return typeof raw === 'function' ? Reflect.apply(raw, JSON, [this.text]) : this.text
  }
}

// oxlint-disable-next-line max-params -- the shape of a JSON reviver
type WithSource = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown

// oxlint-disable-next-line max-params -- the shape of a JSON reviver
const keepDigits: WithSource = (_key, value, context) => {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value) && String(value) !== source
    ? new RawNumber(source)
    : value
}

/** JSON text as values, with every digit of its numbers where the engine reports them. */
export function readJson(text: string): unknown {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- engines give the reviver a third argument that the types do not know yet
  return JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1])
}

/** A value that is neither an object nor a list, as text. */
export function leafText(value: unknown): string {
  return value instanceof RawNumber ? value.text : String(value)
}
