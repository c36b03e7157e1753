import { request, type IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'

/** Stream clients for tests: they record the events, and return the next events as they arrive. */
export type Event = { readonly id: string | undefined; readonly type: string; readonly data: any } // oxlint-disable-line typescript/no-explicit-any -- tests read frames as a client without types would

export type StreamClient = {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** The whole text as it arrived, for SSE. */
  text(): string
  readonly events: Event[]
  /** The number of pings that a WebSocket got. */
  pings(): number
  /** Continues to read after `paused`. */
  resume(): void
  /** Resolves once `count` events have arrived in total; returns the last of them. */
  until(count: number): Promise<Event>
  /** Resolves with the first event that matches, once it has arrived. */
  first(matches: (event: Event) => boolean): Promise<Event>
  /** Resolves with the close code of a WebSocket, or 0, when the connection has ended. */
  readonly ended: Promise<number>
  close(): void
}

const PATIENCE_MS = 60_000

class Arrivals {
  readonly events: Event[] = []
  readonly #waiting = new Set<() => void>()

  add(event: Event): void {
    this.events.push(event)
    for (const look of this.#waiting) look()
  }

  until(count: number): Promise<Event> {
    return this.#once(`${count} events`, () => this.events[count - 1])
  }

  first(matches: (event: Event) => boolean): Promise<Event> {
    return this.#once('an event that matches', () => this.events.find(matches))
  }

  #once(what: string, find: () => Event | undefined): Promise<Event> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const last = JSON.stringify(this.events).slice(-500)
        reject(new Error(`${this.events.length} events came, and not ${what}: ${last}`))
      }, PATIENCE_MS)
      const look = (): void => {
        const found = find()
        if (found === undefined) return
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve(found)
      }
      this.#waiting.add(look)
      look()
    })
  }
}

/** `paused`: the client reads nothing from the start, or (SSE) from the point where this text has arrived. */
export type Opening = { readonly headers?: Record<string, string>; readonly paused?: boolean | string }

/** An SSE client that reads blocks as the standard requires; resolves when the head of the answer has arrived. */
export function sse(url: string, { headers = {}, paused = false }: Opening = {}): Promise<StreamClient> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const arrivals = new Arrivals()
      let all = ''
      let rest = ''
      let id: string | undefined
      const over = new Promise<number>((done) => response.on('close', () => done(0)))
      response.on('error', () => undefined)
      response.setEncoding('utf8')
      if (paused === true) response.pause()
      let pauseAt = paused
      response.on('data', (text: string) => {
        all += text
        rest += text
        if (typeof pauseAt === 'string' && all.includes(pauseAt)) {
          pauseAt = false
          response.pause()
        }
        // A block of megabytes is searched once, not with every piece of it.
        if (!text.includes('\n')) return
        const blocks = rest.split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) id = readBlock(block, id, arrivals)
      })
      sent.on('error', () => undefined)
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => all,
        pings: () => 0,
        resume: () => void response.resume(),
        events: arrivals.events,
        until: (count) => arrivals.until(count),
        first: (matches) => arrivals.first(matches),
        ended: over,
        close: () => sent.destroy(),
      })
    })
    sent.end()
  })
}

function readBlock(block: string, lastId: string | undefined, arrivals: Arrivals): string | undefined {
  let id = lastId
  let type = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line)?.slice(1) ?? []
    if (name === 'id') id = value
    if (name === 'event') type = value
    if (name === 'data') data.push(value)
  }
  if (data.length > 0) arrivals.add({ id, type, data: JSON.parse(data.join('\n')) })
  return id
}

/** A WebSocket client; rejects with the status when the server refuses it. */
export function webSocket(url: string, { headers = {}, paused = false }: Opening = {}): Promise<StreamClient> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
    const arrivals = new Arrivals()
    let answered: IncomingMessage['headers'] = {}
    const over = new Promise<number>((done) => socket.on('close', (code) => done(code)))
    socket.on('upgrade', (response) => {
      answered = response.headers
    })
    socket.on('unexpected-response', (_request, response) => {
      reject(new Error(`status ${response.statusCode}`))
      response.resume()
      socket.terminate()
    })
    let pings = 0
    socket.on('ping', () => {
      pings += 1
    })
    socket.on('error', reject)
    socket.on('message', (bytes: Buffer) => {
      const { id, type, data } = JSON.parse(bytes.toString())
      arrivals.add({ id, type, data })
    })
    socket.on('open', () => {
      if (paused !== false) socket.pause()
      resolve({
        status: 101,
        headers: answered,
        text: () => '',
        pings: () => pings,
        resume: () => socket.resume(),
        events: arrivals.events,
        until: (count) => arrivals.until(count),
        first: (matches) => arrivals.first(matches),
        ended: over,
        close: () => socket.terminate(),
      })
    })
  })
}
