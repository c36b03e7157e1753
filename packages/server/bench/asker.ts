/** Sends one request to the server in the parent process: a separate process, so that the client costs the measured loop nothing. */
import { Agent, request } from 'node:http'
import { answer } from './child.ts'

export type Asked = {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}
export type Answered = { readonly status: number; readonly bytes: number; readonly start: string }
export type AskerVerbs = { prepare(asked: Asked): void; send(): Promise<Answered> }

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const START_CHARS = 400
let next: Asked | undefined

/** The body is sent to this process before the measured time. */
const prepare = (asked: Asked): void => {
  next = asked
}

function send(): Promise<Answered> {
  if (next === undefined) throw new Error('Nothing is prepared.')
  const { url, method, headers, body } = next
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request(url, { agent, method, headers: { ...headers, ...length } }, (response) => {
      let [bytes, start] = [0, '']
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) start = chunk.toString('utf8', 0, START_CHARS)
        bytes += chunk.length
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes, start }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

answer({ prepare, send } satisfies AskerVerbs)
