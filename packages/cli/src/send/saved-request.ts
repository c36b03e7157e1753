import { EXIT, Failure } from '../failure.ts'
import { readData } from './data.ts'

export type SavedRequest = { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer }

const HEAD_END = /\r?\n\r?\n/

/**
 * A request from a file, or from stdin with `-`: in the form of HTTP (a first line, headers, an empty line and the
 * body), or a line of JSON that `sink --json` printed.
 */
export async function readRequest(file: string): Promise<SavedRequest> {
  const bytes = await readData(file === '-' ? '-' : `@${file}`)
  const text = bytes.toString('latin1')
  return text.trimStart().startsWith('{') ? fromJson(bytes.toString()) : fromHttp(bytes, text)
}

function fromJson(text: string): SavedRequest {
  try {
    const value: { headers?: Record<string, string>; body?: string } = JSON.parse(text)
    if (typeof value.headers === 'object' && typeof value.body === 'string')
      return { headers: value.headers, body: Buffer.from(value.body) }
  } catch {
    // The failure below names the expected form.
  }
  throw notRequest()
}

function fromHttp(bytes: Buffer, text: string): SavedRequest {
  const end = HEAD_END.exec(text)
  if (end === null) throw notRequest()
  const lines = text.slice(0, end.index).split(/\r?\n/)
  const first = /^[A-Z]+ \S+(?: HTTP\/[\d.]+)?$/.test(lines[0] ?? '') ? 1 : 0
  const pairs = lines.slice(first).map((line) => /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line))
  if (pairs.length === 0 || pairs.includes(null)) throw notRequest()
  return {
    headers: Object.fromEntries(pairs.map((pair) => [(pair?.[1] ?? '').toLowerCase(), pair?.[2] ?? ''])),
    // Latin-1 has one character for each byte, so the index of a character is that of its byte.
    body: bytes.subarray(end.index + end[0].length),
  }
}

function notRequest(): Failure {
  return new Failure(
    'This file is not a saved request. Save the headers, an empty line and the body as received, or a line of "sink --json" output.',
    EXIT.usage,
  )
}
