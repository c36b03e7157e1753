import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { blocksIn } from '@postroad/sdk/server-sent-events'
import { Failure } from '../failure.ts'
import { http } from '../http.ts'

/** A message of JSON-RPC, with the members that the bridge reads. */
type Message = {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
}

export type Bridge = {
  readonly url: string
  /** The headers that prove the caller now. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>
  readonly input: Readable
  /** Writes a message for the client, without a line break in it. */
  readonly write: (line: string) => void
  /** Reports a failure to which no request of the client belongs. */
  readonly report: (sentence: string) => void
}

const VERSION_OF_REQUEST = 'io.modelcontextprotocol/protocolVersion'
const PARSE_ERROR = -32_700
const FAILED = -32_000
/** No tool runs longer than this. */
const PATIENCE_MS = 180_000

/**
 * Carries messages between a client on stdin and stdout and the MCP server of Postroad, line by line. Requests run at the same time. It
 * ends when the client has closed its end and every answer is written.
 */
export async function runBridge(bridge: Bridge): Promise<void> {
  const waiting = new Map<string | number, AbortController>()
  const working = new Set<Promise<void>>()
  const state = { version: undefined as string | undefined }
  for await (const line of createInterface({ input: bridge.input, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const message = parsed(line)
    if (message === undefined) {
      bridge.write(errorLine(undefined, { code: PARSE_ERROR, message: 'This line is not a JSON object.' }))
      continue
    }
    if (message.method === 'notifications/cancelled') {
      cancel(waiting, message)
      continue
    }
    const work = carry(bridge, { line, message, waiting, state }).finally(() => working.delete(work))
    working.add(work)
    // The version that both sides agreed on is in the header of every later request.
    // oxlint-disable-next-line no-await-in-loop -- later requests need the agreed version
    if (message.method === 'initialize') await work
  }
  await Promise.all(working)
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function cancel(waiting: ReadonlyMap<string | number, AbortController>, { params }: Message): void {
  const id = params?.['requestId']
  if (typeof id === 'string' || typeof id === 'number') waiting.get(id)?.abort()
}

type Carrying = {
  readonly line: string
  readonly message: Message
  readonly waiting: Map<string | number, AbortController>
  readonly state: { version: string | undefined }
}

async function carry(bridge: Bridge, { line, message, waiting, state }: Carrying): Promise<void> {
  const { id } = message
  const stop = new AbortController()
  if (id !== undefined) waiting.set(id, stop)
  try {
    const response = await http(bridge.url, {
      method: 'POST',
      headers: { ...(await bridge.headers()), ...headersOf(message, state.version) },
      body: line,
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(PATIENCE_MS)]),
    })
    for await (const answer of answersIn(response, message)) {
      if (message.method === 'initialize') state.version = versionIn(answer) ?? state.version
      if (answer !== '') bridge.write(answer)
    }
    if (id === undefined && !response.ok) bridge.report(`The server refused ${message.method} with ${response.status}.`)
  } catch (error) {
    // A client that has canceled a request does not wait for its answer.
    if (stop.signal.aborted) return
    const sentence = sentenceOf(error, bridge.url)
    if (id === undefined) bridge.report(sentence)
    else bridge.write(errorLine(id, { code: FAILED, message: sentence }))
  } finally {
    if (id !== undefined) waiting.delete(id)
  }
}

function sentenceOf(error: unknown, url: string): string {
  if (error instanceof Failure) return error.message
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const reason = cause instanceof Error ? cause.message : String(cause)
  return `The server at ${new URL(url).origin} does not respond: ${reason}.`
}

/** The headers by which the server routes a request without reading its body. */
function headersOf({ method, params }: Message, agreed: string | undefined): Readonly<Record<string, string>> {
  const meta = params?.['_meta']
  const own: unknown = typeof meta === 'object' && meta !== null ? Reflect.get(meta, VERSION_OF_REQUEST) : undefined
  const version = typeof own === 'string' ? own : agreed
  const name = method === 'resources/read' ? params?.['uri'] : params?.['name']
  return {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(version === undefined ? {} : { 'MCP-Protocol-Version': version }),
    ...(method === undefined ? {} : { 'Mcp-Method': headerValue(method) }),
    ...(typeof name === 'string' ? { 'Mcp-Name': headerValue(name) } : {}),
  }
}

/** A value that no header can have is sent in base64, as the protocol says. */
function headerValue(text: string): string {
  if (/^[!-~](?:[ -~]*[!-~])?$/.test(text) && !text.startsWith('=?base64?')) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** The messages of a response, each in one line. */
async function* answersIn(response: Response, { id }: Message): AsyncGenerator<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true && response.body !== null) {
    for await (const { data } of blocksIn(response.body.pipeThrough(new TextDecoderStream())))
      if (data !== '') yield data.replaceAll('\n', ' ')
    return
  }
  const text = await response.text()
  if (id !== undefined && text !== '') yield answerOf(text, { id, status: response.status })
}

/** The answer to a request; a refusal before the protocol, or of a proxy, becomes an error. */
function answerOf(text: string, { id, status }: { readonly id: string | number; readonly status: number }): string {
  const answer = parsed(text)
  // The server may not have known the id, because it refused the request before it read the body.
  if (answer !== undefined && 'jsonrpc' in answer) return JSON.stringify({ ...answer, id })
  const sentence = answer !== undefined && 'error' in answer ? String(answer.error) : `The server returned ${status}.`
  return errorLine(id, { code: FAILED, message: sentence, ...(answer === undefined ? {} : { data: answer }) })
}

function versionIn(answer: string): string | undefined {
  const result: unknown = Reflect.get(parsed(answer) ?? {}, 'result')
  const version: unknown =
    typeof result === 'object' && result !== null ? Reflect.get(result, 'protocolVersion') : undefined
  return typeof version === 'string' ? version : undefined
}

function errorLine(
  id: string | number | undefined,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error })
}
