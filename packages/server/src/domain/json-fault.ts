/** Finds where a text stops being JSON, because V8 does not always say. Only the sentence of a refusal needs it. */

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERAL = /true|false|null/y
const SPACE = /[ \t\n\r]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The offset of the first character that no JSON text could have there; undefined when the text is JSON. */
export function faultOf(text: string): number | undefined {
  const reader = new Reader(text)
  const ended = reader.value() && reader.space() === text.length
  return ended ? undefined : reader.at
}

class Reader {
  at = 0
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  space(): number {
    this.take(SPACE)
    return this.at
  }

  /** Reads one value; false leaves `at` on the fault. The depth is limited before this is called. */
  value(): boolean {
    this.space()
    if (this.skip('{'))
      return this.members('}', () => this.string() && this.space() >= 0 && this.skip(':') && this.value())
    if (this.skip('[')) return this.members(']', () => this.value())
    if (this.text[this.at] === '"') return this.string()
    return this.take(LITERAL) || this.take(NUMBER)
  }

  private members(end: string, member: () => boolean): boolean {
    this.space()
    if (this.skip(end)) return true
    for (;;) {
      this.space()
      if (!member()) return false
      this.space()
      if (this.skip(end)) return true
      if (!this.skip(',')) return false
    }
  }

  private string(): boolean {
    if (!this.skip('"')) return false
    while (this.at < this.text.length) {
      if (this.skip('"')) return true
      if (this.text[this.at] === '\\') {
        if (!this.take(ESCAPE)) return false
      } else if (this.text.charCodeAt(this.at) < 0x20) {
        return false
      } else {
        this.at += 1
      }
    }
    return false
  }

  private skip(letter: string): boolean {
    if (this.text[this.at] !== letter) return false
    this.at += 1
    return true
  }

  private take(token: RegExp): boolean {
    token.lastIndex = this.at
    const found = token.exec(this.text)
    if (found === null) return false
    this.at += found[0].length
    return true
  }
}
