import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { GatheredBytes } from '../gathered-bytes.ts'
import { Breach } from './breach.ts'
import type { Units } from './units.ts'

/** How much of a peer's data this process accepts. */
export type Budget = {
  /** Absent: the bytes are passed on as they come. */
  readonly units?: Units
  readonly unitBytesMax: number
  /** The most bytes of an answer. */
  readonly answerBytesMax: number
}

const NOTHING = Buffer.alloc(0)

/**
 * A connected socket that reads no more than its budget. A driver gets whole units only, so it collects and rescans nothing. A
 * driver that cannot read a unit ends the connection, not the process. The owner can destroy the socket at any time.
 */
export class GuardedSocket extends Duplex {
  readonly #budget: Budget
  #inner: Socket
  /** The start of a unit that is not complete. */
  readonly #held = new GatheredBytes()
  /** The number of held bytes that did not reveal the size of the unit. */
  #examined = 0
  #unitBytes: number | undefined
  #answerBytes = 0
  #answerBytesMax: number
  #breach: Breach | undefined
  /** Something was sent after the last start of an answer. */
  #isAsked = false

  /** `first`: bytes that arrived before. */
  constructor(inner: Socket, { first = NOTHING, ...budget }: Budget & { readonly first?: Buffer }) {
    super({ allowHalfOpen: false })
    this.#budget = budget
    this.#answerBytesMax = budget.answerBytesMax
    this.#inner = inner
    this.#attach()
    if (first.length > 0) this.#arrived(first)
  }

  /** The reason why this side ended the connection. Drivers replace it with their own errors. */
  get breach(): Breach | undefined {
    return this.#breach
  }

  /** The next answer may have this many bytes, or as many as the last one. A peer that was asked nothing has no next answer. */
  startAnswer(bytesMax = this.#answerBytesMax): void {
    if (this.#isAsked) this.#answerBytes = 0
    this.#isAsked = false
    this.#answerBytesMax = bytesMax
  }

  /** Continues with TLS, on the same connection. */
  async secure(options: ConnectionOptions): Promise<void> {
    await new Promise((resolve) => this.write(NOTHING, resolve))
    if (this.#held.length > 0) throw new Error('The server sent data before the encryption.')
    this.#inner.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    this.#inner = await secured(this.#inner, options)
    this.#attach()
  }

  /** For drivers that connect their socket themselves: this one is connected. */
  connect(): this {
    process.nextTick(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  /** The owner has the only deadline. */
  setTimeout(): this {
    return this
  }

  ref(): this {
    this.#inner.ref()
    return this
  }

  unref(): this {
    this.#inner.unref()
    return this
  }

  override emit(event: string | symbol, ...given: unknown[]): boolean {
    if (event !== 'data') return super.emit(event, ...given)
    try {
      return super.emit(event, ...given)
    } catch (error) {
      this.#end(unreadable(this.#budget, error))
      return true
    }
  }

  override _read(): void {
    this.#inner.resume()
  }

  // oxlint-disable-next-line max-params -- the signature of Node
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#isAsked = true
    this.#inner.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#inner.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#held.take()
    if (this.#inner.closed) return done(error)
    this.#inner.once('close', () => done(error))
    this.#inner.destroy()
  }

  #attach(): void {
    this.#inner
      .on('data', this.#onData)
      .on('end', this.#onEnd)
      .on('close', this.#onClose)
      .on('error', (error) => this.destroy(error))
  }

  readonly #onData = (chunk: Buffer): void => this.#arrived(chunk)
  readonly #onEnd = (): void => void this.push(null)

  /** The peer may have said why before it closed the connection. */
  readonly #onClose = (): void => {
    if (this.readableLength === 0) return void this.destroy()
    this.push(null)
    this.once('end', () => this.destroy())
  }

  #end(breach: Breach): void {
    this.#breach ??= breach
    this.destroy(breach)
  }

  #arrived(chunk: Buffer): void {
    const { units } = this.#budget
    if (this.destroyed) return
    this.#answerBytes += chunk.length
    if (this.#answerBytes > this.#answerBytesMax) return this.#end(answerTooLarge(this.#answerBytesMax))
    if (units === undefined) return this.#pass(chunk)
    this.#held.append(chunk, this.#unitBytes)
    const whole = this.#wholeUnits(units)
    if (whole > 0) this.#pass(this.#held.take(whole))
  }

  #pass(bytes: Buffer): void {
    if (!this.push(bytes)) this.#inner.pause()
  }

  /** The number of held bytes that are whole units. */
  #wholeUnits(units: Units): number {
    const unitBytesMax = Math.min(this.#budget.unitBytesMax, this.#answerBytesMax)
    let at = 0
    for (;;) {
      const rest = this.#held.bytes.subarray(at)
      this.#unitBytes ??= rest.length === 0 ? undefined : units.sizeOf(rest, this.#examined)
      if ((this.#unitBytes ?? rest.length) > unitBytesMax) {
        this.#end(unitTooLarge({ units, unitBytesMax, bytes: this.#unitBytes }))
        return 0
      }
      if (this.#unitBytes === undefined || rest.length < this.#unitBytes) {
        this.#examined = rest.length
        return at
      }
      at += this.#unitBytes
      this.#unitBytes = undefined
      this.#examined = 0
    }
  }
}

/** Connects TLS over a connected socket. */
export async function secured(socket: Socket, options: ConnectionOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = connectTls({ ...options, socket })
    secure.once('error', reject)
    secure.once('close', () => reject(new Error('The connection was closed.')))
    secure.once('secureConnect', () => {
      secure.removeListener('error', reject)
      resolve(secure)
    })
  })
}

function unitTooLarge(of: { units: Units; unitBytesMax: number; bytes: number | undefined }): Breach {
  const { units, unitBytesMax, bytes } = of
  const sent =
    bytes === undefined ? `more than ${unitBytesMax} bytes without the end of a message` : `a message of ${bytes} bytes`
  return new Breach(
    'response_too_large',
    `The server sent ${sent}, and Postroad reads at most ${unitBytesMax} bytes. Check that it is ${units.server}.`,
  )
}

const answerTooLarge = (bytesMax: number): Breach =>
  new Breach('response_too_large', `The server sent more than ${bytesMax} bytes in one response.`)

const unreadable = ({ units }: Budget, error: unknown): Breach =>
  new Breach(
    'connection_reset',
    `The server sent a message that Postroad cannot read (${error instanceof Error ? error.message : String(error)}). Check that it is ${units?.server ?? 'the right one'}.`,
  )
