import { parseStoredJson, rawJson } from './json-text.ts'

/** JSON text as a value. `stringifyAnswer` writes it as it is, so nobody parses it in order to write it again. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The value, for every other reader. */
  get value(): unknown {
    const parsed = parseStoredJson(this.text)
    return parsed.ok ? parsed.value : null
  }

  toJSON(): unknown {
    if (texts === undefined) return this.value
    texts.push(this.text)
    return PLACE
  }
}

/** An answer with values in the places of its JSON texts. */
export function readAnswer(answer: unknown): unknown {
  if (answer instanceof RawJson) return answer.value
  if (Array.isArray(answer)) return answer.map(readAnswer)
  if (typeof answer !== 'object' || answer === null || Object.getPrototypeOf(answer) !== Object.prototype) return answer
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, readAnswer(value)]))
}

/** The texts of the answer that is being written, in their order. */
let texts: string[] | undefined

/** A string in a form that `JSON.stringify` writes for no other value: it escapes no ASCII letter. */
const PLACE_TEXT = '"\\u0041"'
const PLACE = rawJson(PLACE_TEXT)

/** The JSON of an answer. */
export function stringifyAnswer(answer: unknown): string {
  texts = []
  try {
    const [first = '', ...rest] = JSON.stringify(answer).split(PLACE_TEXT)
    return rest.reduce((whole, part, at) => whole + texts?.[at] + part, first)
  } finally {
    texts = undefined
  }
}
