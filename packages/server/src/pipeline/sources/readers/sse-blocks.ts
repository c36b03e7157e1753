/** The text of one event with its blank line; or the fields that are left of an event that is too large. */
export type SseBlock =
  | { readonly text: string }
  | { readonly text: null; readonly id: string | undefined; readonly event: string | undefined }

const TERMINATOR = /\r\n|\r|\n/g
const FIELD = /(?:^|[\r\n])(id|event): ?([^\r\n]*)(?=[\r\n])/g
/** A longer line cannot be the id or the name of an event. */
const FIELD_CHARS_MAX = 2_000

/** Divides an event stream into events. An event with more than `charsMax` loses its data, and the stream continues. */
export class SseBlocks {
  readonly #charsMax: number
  #parts: string[] = []
  #chars = 0
  /** The start of the last line of an event that is too large. */
  #line = ''
  #fields: { id?: string; event?: string } = {}
  #isLineEmpty = true
  /** A carriage return at the end of a piece may be half of a terminator. */
  #held = ''

  constructor(charsMax: number) {
    this.#charsMax = charsMax
  }

  /** The events that end in the next piece of the stream. */
  feed(piece: string): readonly SseBlock[] {
    const whole = this.#held + piece
    this.#held = whole.endsWith('\r') ? '\r' : ''
    const text = whole.slice(0, whole.length - this.#held.length)
    const ended: SseBlock[] = []
    let [from, lineFrom] = [0, 0]
    for (const { 0: terminator, index } of text.matchAll(TERMINATOR)) {
      const isBlank = index === lineFrom && this.#isLineEmpty
      lineFrom = index + terminator.length
      this.#isLineEmpty = true
      if (!isBlank) continue
      this.#add(text.slice(from, lineFrom))
      ended.push(this.#take())
      from = lineFrom
    }
    if (lineFrom < text.length) this.#isLineEmpty = false
    this.#add(text.slice(from))
    return ended
  }

  #add(text: string): void {
    this.#chars += text.length
    if (this.#chars <= this.#charsMax) {
      this.#parts.push(text)
      return
    }
    const lines = `${this.#parts.join('')}${this.#line}${text}`
    this.#parts = []
    for (const [, name, value = ''] of lines.matchAll(FIELD)) {
      if (name === 'id' && !value.includes('\0')) this.#fields.id = value
      if (name === 'event') this.#fields.event = value
    }
    const last = lines.slice(Math.max(lines.lastIndexOf('\n'), lines.lastIndexOf('\r')) + 1)
    this.#line = last.length > FIELD_CHARS_MAX ? ':' : last
  }

  #take(): SseBlock {
    const { id, event } = this.#fields
    const block: SseBlock = this.#chars > this.#charsMax ? { text: null, id, event } : { text: this.#parts.join('') }
    this.#parts = []
    this.#chars = 0
    this.#line = ''
    this.#fields = {}
    return block
  }
}
