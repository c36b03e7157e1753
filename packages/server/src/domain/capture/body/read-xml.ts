import sax, { type SAXOptions } from 'sax'
import { FormCollector } from './form-fields.ts'

export type ReadXml = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string }

/** An element that is open. */
type Open = {
  readonly name: string
  /** Its attributes and elements, in their order. */
  readonly members: FormCollector
  hasElements: boolean
  text: string
}

/**
 * XML as an object with one member, the root element (docs/adr/0360). An element with only text is this text; any other is an object
 * of its attributes (`@id`), its elements, and its own text (`#text`). A document type declares nothing, and nothing is fetched.
 */
export function readXml(text: string, depthMax: number): ReadXml {
  const parser = sax.parser(true, OPTIONS)
  const reader = new Reader(depthMax)
  parser.onopentagstart = ({ name }) => reader.open(name)
  parser.onattribute = ({ name, value }) => reader.attribute(name, value)
  parser.onclosetag = () => reader.close()
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the parser has one handler of each kind
  parser.ontext = parser.oncdata = (piece) => reader.text(piece)
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- as above
  parser.onerror = (error) => {
    if (!IN_ENTITY.test(error.message)) throw error
    parser.resume()
  }
  try {
    parser.write(text).close()
  } catch (error) {
    return { ok: false, error: error instanceof NotRead ? error.message : sentenceOf(error) }
  }
  return reader.root === undefined
    ? { ok: false, error: 'The body is not XML: it has no element.' }
    : { ok: true, value: reader.root }
}

/** The types of the parser lack it: only the entities that XML itself defines are known. */
const OPTIONS: SAXOptions & { readonly strictEntities: true } = { strictEntities: true }

/** The parser then leaves `&name;`, or a lone `&`, in the text. */
const IN_ENTITY = /^Invalid (?:character entity|character in entity name)/

function sentenceOf(error: unknown): string {
  const [fault = '', line = '', column = ''] = error instanceof Error ? error.message.split('\n') : []
  const at = line === '' ? '' : ` at line ${numberIn(line) + 1}, column ${numberIn(column)}`
  return `The body is not well-formed XML${at}: ${fault.replace(/\.$/, '')}.`
}

const numberIn = (text: string): number => Number(/\d+/.exec(text)?.[0] ?? 0)

/** A fault that the parser does not see. */
class NotRead extends Error {}

class Reader {
  root: Readonly<Record<string, unknown>> | undefined
  readonly #open: Open[] = []
  readonly #depthMax: number

  constructor(depthMax: number) {
    this.#depthMax = depthMax
  }

  open(name: string): void {
    if (this.root !== undefined) throw new NotRead('The body is not XML: it has more than one root element.')
    if (this.#open.length >= this.#depthMax)
      throw new NotRead(`The body is nested more than ${this.#depthMax} levels deep; flatten it.`)
    this.#open.push({ name, members: new FormCollector(), hasElements: false, text: '' })
  }

  attribute(name: string, value: string): void {
    this.#open.at(-1)?.members.add(`@${name}`, value)
  }

  text(piece: string): void {
    const element = this.#open.at(-1)
    if (element !== undefined) element.text += piece
  }

  close(): void {
    const closed = this.#open.pop()
    if (closed === undefined) return
    const parent = this.#open.at(-1)
    if (parent === undefined) {
      const root = new FormCollector()
      root.add(closed.name, valueOf(closed))
      this.root = root.fields
    } else {
      parent.hasElements = true
      parent.members.add(closed.name, valueOf(closed))
    }
  }
}

function valueOf({ members, hasElements, text }: Open): unknown {
  if (members.keys === 0) return text
  // Between elements, spaces and line ends only indent.
  const own = hasElements ? text.trim() : text
  if (own !== '') members.add('#text', own)
  return members.fields
}
