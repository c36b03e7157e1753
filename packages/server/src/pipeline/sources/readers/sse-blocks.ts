import { GatheredBytes } from '../../../platform/gathered-bytes.ts'

/** The text of one event with its blank line; or the fields that are left of an event that is too large. */
export type SseBlock =
  | { readonly text: string }
  | { readonly text: null; readonly id: string | undefined; readonly event: string | undefined }

const [LF, CR, LETTER_I, LETTER_E] = [0x0a, 0x0d, 0x69, 0x65]
const FIELD = /^(id|event): ?(.*)$/s
/** A longer line cannot be the id or the name of an event. */
const FIELD_BYTES_MAX = 2_000

/**
 * Divides an event stream into events, and looks at each byte once. An event with more than `bytesMax` loses its data, and the
 * stream continues.
 */
export class SseBlocks {
  readonly #bytesMax: number
  readonly #event = new GatheredBytes()
  /** The start of a line that can be a field of the event. */
  readonly #line = new GatheredBytes()
  #eventBytes = 0
  #lineBytes = 0
  #fields: { id?: string; event?: string } = {}
  /** A carriage return at the end of a piece may be half of a terminator. */
  #hasReturn = false
  #decoder = new TextDecoder()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The size of the event that has not ended. */
  get openBytes(): number {
    return this.#eventBytes
  }

  /** The events that end in the next piece of the stream. */
  feed(piece: Buffer): readonly SseBlock[] {
    const whole = this.#hasReturn ? Buffer.concat([RETURN, piece]) : piece
    this.#hasReturn = whole.at(-1) === CR
    const bytes = this.#hasReturn ? whole.subarray(0, -1) : whole
    const ended: SseBlock[] = []
    let [from, lineFrom] = [0, 0]
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at] !== LF && bytes[at] !== CR) continue
      const isBlank = this.#lineBytes === 0 && lineFrom === at
      this.#endLine(bytes.subarray(lineFrom, at))
      if (bytes[at] === CR && bytes[at + 1] === LF) at += 1
      lineFrom = at + 1
      if (!isBlank) continue
      this.#add(bytes.subarray(from, lineFrom))
      ended.push(this.#take())
      from = lineFrom
    }
    this.#addToLine(bytes.subarray(lineFrom))
    this.#add(bytes.subarray(from))
    return ended
  }

  #add(bytes: Buffer): void {
    this.#eventBytes += bytes.length
    if (this.#eventBytes <= this.#bytesMax) this.#event.append(bytes)
    else this.#event.take()
  }

  #addToLine(bytes: Buffer): void {
    const first = this.#lineBytes === 0 ? bytes[0] : this.#line.bytes[0]
    this.#lineBytes += bytes.length
    if (first !== LETTER_I && first !== LETTER_E) return
    if (this.#lineBytes <= FIELD_BYTES_MAX) this.#line.append(bytes)
    else this.#line.take()
  }

  #endLine(rest: Buffer): void {
    this.#addToLine(rest)
    const [, name, value = ''] = FIELD.exec(this.#line.take().toString()) ?? []
    if (name === 'id' && !value.includes('\0')) this.#fields.id = value
    if (name === 'event') this.#fields.event = value
    this.#lineBytes = 0
  }

  #take(): SseBlock {
    const { id, event } = this.#fields
    const text = this.#decoder.decode(this.#event.take())
    const block: SseBlock = this.#eventBytes > this.#bytesMax ? { text: null, id, event } : { text }
    // Only the first event can have a byte order mark.
    if (!this.#decoder.ignoreBOM) this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    this.#eventBytes = 0
    this.#fields = {}
    return block
  }
}

const RETURN = Buffer.from([CR])
