/**
 * Quotes values in commands and programs that people copy into a terminal or a file. Anyone who names an endpoint,
 * sends an event or sets a header chooses these values. Quoted for its language, each stays one value and runs nothing.
 */

/** A piece of a shell word: text as it is, or the value of a variable of the command. */
export type ShellPart = string | { readonly variable: string }

// Typed into a terminal these are keys, even inside quotes: an escape sequence can end the paste that contains it.
const KEYS = /[\p{Cc}--[\t\n]]/v
const EACH_KEY = /[\p{Cc}--[\t\n]]/gv

/** Text as one word of a POSIX shell. A word cannot contain U+0000, so it is left out; `curlCommand` pipes a body with one. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text)) return text
  if (!KEYS.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`
  // A command substitution drops the newlines at its end.
  const [, start = '', newlines = ''] = /^([^]*?)(\n*)$/.exec(text.replaceAll('\0', '')) ?? []
  return `"$(printf %b ${escaped(start)})"${newlines === '' ? '' : `'${newlines}'`}`
}

/** Text and variables as one word of a POSIX shell. */
export function shellText(parts: readonly ShellPart[]): string {
  const isPlain = parts.every((part) => typeof part !== 'string' || /^[\w@%+=:,./ -]*$/.test(part))
  if (isPlain) return `"${parts.map((part) => (typeof part === 'string' ? part : valueOf(part))).join('')}"`
  return parts
    .filter((part) => part !== '')
    .map((part) => (typeof part === 'string' ? shellWord(part) : `"${valueOf(part)}"`))
    .join('')
}

/** Text as one string literal of JavaScript, Python or Go: all three read the escapes of JSON in the same way. */
export function programText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(
    /[\p{Cc}\u2028\u2029]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export type CurlRequest = {
  readonly url: ShellPart | readonly ShellPart[]
  /** Options of curl, without any value that a user chose. */
  readonly options?: readonly string[]
  /** Absent: `GET` without a body, `POST` with one. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly ShellPart[]>>
  /** Text, or the variable of the command that contains it. */
  readonly body?: ShellPart | undefined
}

/** A request as a curl command. curl reads none of its values as an option, a file (`@name`) or a URL pattern. */
export function curlCommand({ url, options = [], method, headers = {}, body }: CurlRequest): string {
  const parts = Array.isArray(url) ? url : [url]
  const isPattern = parts.some((part) => typeof part === 'string' && /[[\]{}]/.test(part))
  const piped = typeof body === 'string' && KEYS.test(body)
  const verb =
    method === undefined || method === (body === undefined ? 'GET' : 'POST') ? '' : `-X ${shellWord(method)} `
  const lines = [
    `${piped ? `printf %b ${escaped(body)} | ` : ''}curl ${[...options, ...(isPattern ? ['-g'] : []), ''].join(' ')}${verb}${partsWord(parts)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${header(name, value)}`),
    ...bodyOption(body, piped),
  ]
  return lines.join(' \\\n  ')
}

function partsWord(parts: readonly ShellPart[]): string {
  const [first] = parts
  return parts.length === 1 && typeof first === 'string' ? shellWord(first) : shellText(parts)
}

function header(name: string, value: string | readonly ShellPart[]): string {
  // curl omits a header without a value, unless its name ends with a semicolon. A name that starts with @ names a file.
  const safe = name.replace(/^@+/, '')
  if (value === '') return shellWord(`${safe};`)
  return typeof value === 'string' ? shellWord(`${safe}: ${value}`) : shellText([`${safe}: `, ...value])
}

function bodyOption(body: ShellPart | undefined, piped: boolean): readonly string[] {
  if (body === undefined) return []
  if (piped) return ['--data-binary @-']
  return [`--data-raw ${typeof body === 'string' ? shellWord(body) : `"${valueOf(body)}"`}`]
}

/** For `printf %b`: writes every byte that a terminal could read as a key in octal. */
function escaped(text: string): string {
  const safe = text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll(EACH_KEY, (letter) =>
      [...new TextEncoder().encode(letter)].map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join(''),
    )
  return `'${safe.replaceAll("'", String.raw`'\''`)}'`
}

const valueOf = ({ variable }: { readonly variable: string }): string => `$${variable}`
