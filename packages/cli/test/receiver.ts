import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Received = {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/** A program on this machine, to which `listen` forwards. It records requests, and answers when the test allows it. */
export class Receiver {
  readonly received: Received[] = []
  status = 200
  /** Requests that wait for their answer. */
  readonly open: ServerResponse[] = []
  answers: 'at once' | 'later' | 'never' = 'at once'
  #server: Server
  #port = 0
  readonly #waiting = new Set<() => void>()

  constructor() {
    this.#server = this.#made()
  }

  #made(): Server {
    return createServer((request, response) => void this.#take(request, response))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const { url: path = '', headers, rawHeaders } = request
    this.received.push({ path, headers, rawHeaders, body })
    if (this.answers === 'at once') response.writeHead(this.status, { 'X-From': 'receiver' }).end('{"got":true}')
    else if (this.answers === 'later') this.open.push(response)
    else request.socket.destroy()
    for (const look of this.#waiting) look()
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  async start(): Promise<this> {
    this.#server = this.#made()
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
    this.#port = (this.#server.address() as AddressInfo).port
    return this
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close().closeAllConnections()
    await closed
  }

  answerOpen(): void {
    for (const response of this.open.splice(0)) response.writeHead(this.status).end()
  }

  /** Resolves when this many requests have arrived in total. */
  until(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.received.length < count) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** The number `n` in each body, in the order of arrival. */
  numbers(): readonly number[] {
    return this.received.map(({ body }) => JSON.parse(body.toString()).n)
  }
}

export const aReceiver = (): Promise<Receiver> => new Receiver().start()
