import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import { loginOf, type KafkaUser, type Login } from './kafka-login.ts'

/** The part of the protocol of Kafka that a producer needs: login, metadata and produce, for one topic with one partition or two. */

type Place = { readonly host: string; readonly port: number }

type Wanted = {
  /** The address of the leader that the metadata announces; undefined: this server. */
  readonly leader?: Place | undefined
  /** The only user; undefined: nobody logs in. */
  readonly user?: KafkaUser
  /** A certificate makes it a server with TLS. */
  readonly pair?: { readonly key: string; readonly cert: string }
  /** Error codes of Kafka; 0: none. */
  readonly topicError?: number
  /** A second partition, which has no leader. */
  readonly leaderless?: true
  readonly produceError?: number
}
export type FakeKafka = {
  readonly url: string
  readonly port: number
  /** The requests to produce, as they arrived. */
  readonly produced: Buffer[]
  /** Names another leader from now on, and refuses to produce, as a previous leader does. */
  readonly moveTo: (leader: Place) => void
}

const [METADATA, HANDSHAKE, VERSIONS, AUTHENTICATE] = [3, 17, 18, 36]
const [UNSUPPORTED_MECHANISM, WRONG_CREDENTIALS, NOT_LEADER, LEADER_NOT_AVAILABLE] = [33, 58, 6, 5]
const CLIENT_ID_AT = 8

const int8 = (value: number): Buffer => Buffer.from([value])
const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const int64 = (value: number): Buffer => Buffer.concat([int32(0), int32(value)])
const text = (value: string): Buffer => Buffer.concat([int16(value.length), Buffer.from(value)])
const list = (...items: Buffer[]): Buffer => Buffer.concat([int32(items.length), ...items])
const all = (...items: Buffer[]): Buffer => Buffer.concat(items)
const NULL_TEXT = int16(-1)
const NO_OPERATIONS = int32(0)

export async function aFakeKafka(t: TestContext, wanted: Wanted = {}): Promise<FakeKafka> {
  const produced: Buffer[] = []
  const sockets = new Set<Socket>()
  let { leader, produceError = 0 } = wanted
  const portOf = (): number => (server.address() as AddressInfo).port
  const answer = (request: Buffer, login: Login | undefined): Buffer => {
    const body = request.subarray(CLIENT_ID_AT + 2 + request.readInt16BE(CLIENT_ID_AT))
    switch (request.readInt16BE(0)) {
      case METADATA:
        return metadata({ ...wanted, leader, port: portOf() })
      case VERSIONS:
        return all(int16(0), list(all(int16(AUTHENTICATE), int16(0), int16(0))), int32(0))
      case HANDSHAKE: {
        const { mechanism = '' } = wanted.user ?? {}
        const isOffered = body.subarray(2).toString() === mechanism
        return all(int16(isOffered ? 0 : UNSUPPORTED_MECHANISM), list(text(mechanism)))
      }
      case AUTHENTICATE: {
        const said = login?.(body.subarray(4))
        if (said === undefined) return all(int16(WRONG_CREDENTIALS), text('Authentication failed'), int32(0))
        return all(int16(0), NULL_TEXT, int32(said.length), said)
      }
      default: {
        produced.push(request)
        const partition = all(int32(0), int16(produceError), int64(41), int64(-1), int64(0))
        return all(list(all(text('events'), list(partition))), int32(0))
      }
    }
  }
  const onSocket = (socket: Socket): void => {
    sockets.add(socket)
    const login = wanted.user === undefined ? undefined : loginOf(wanted.user)
    let seen = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      seen = Buffer.concat([seen, chunk])
      while (seen.length >= 4 && seen.length >= 4 + seen.readInt32BE(0)) {
        const request = seen.subarray(4, 4 + seen.readInt32BE(0))
        seen = seen.subarray(4 + request.length)
        const answered = all(request.subarray(4, CLIENT_ID_AT), answer(request, login))
        socket.write(all(int32(answered.length), answered))
      }
    })
  }
  const server = wanted.pair === undefined ? createServer(onSocket) : createTlsServer(wanted.pair, onSocket)
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const at = wanted.pair === undefined ? 'kafka://127.0.0.1' : 'kafkas://localhost'
  return {
    url: `${at}:${portOf()}`,
    port: portOf(),
    produced,
    moveTo: (to) => {
      leader = to
      produceError = NOT_LEADER
    },
  }
}

function metadata({ leader, pair, port, leaderless, topicError = 0 }: Wanted & { readonly port: number }): Buffer {
  const { host, port: at } = leader ?? { host: pair === undefined ? '127.0.0.1' : 'localhost', port }
  const brokers = list(all(int32(1), text(host), int32(at), NULL_TEXT))
  const partition = all(int16(0), int32(0), int32(1), int32(0), list(int32(1)), list(int32(1)), list())
  const lost = all(int16(LEADER_NOT_AVAILABLE), int32(1), int32(-1), int32(0), list(int32(1)), list(), list(int32(1)))
  const known = leaderless === true ? list(partition, lost) : list(partition)
  const partitions = topicError === 0 ? known : list()
  const topics = list(all(int16(topicError), text('events'), int8(0), partitions, NO_OPERATIONS))
  return all(int32(0), brokers, NULL_TEXT, int32(1), topics, NO_OPERATIONS)
}
