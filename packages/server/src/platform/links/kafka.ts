import type { Connection, Broker } from '@platformatic/kafka'
import {
  Connection as KafkaConnection,
  metadataV8,
  murmur2,
  produceV7,
  ProtocolError,
  ResponseError,
} from '@platformatic/kafka'
import { LIMITS } from '@postroad/contract'
import { openRelay } from '../guarded/relay.ts'
import { KAFKA } from '../guarded/units.ts'
import { LinkFailure, linkFailure, noAccess, refusedBy, tooLarge } from './failure.ts'
import { filledName } from './names.ts'
import { logIn } from './kafka-login.ts'
import type { LinkMessage, LinkSettings, OpenLink } from './types.ts'

type Settings = LinkSettings<'kafka'>
/** The leader of each partition of a topic; undefined: it currently has none. */
type Leaders = readonly (Broker | undefined)[]
type Metadata = Awaited<ReturnType<typeof metadataV8.api.async>>

/** Every in-sync replica has the event. */
const ACKS_ALL = -1
const TOPICS_MAX = 1_000
/** Each has a connection, and a hostile cluster can name a new one at each failure. */
const BROKERS_MAX = 200
const POSITIVE = 0x7f_ff_ff_ff

/**
 * Produces to the leader of a partition. The client speaks the protocol, and this file chooses the broker, so that each
 * address that the cluster announces passes the guard. The partition follows from the key as in the Java clients.
 */
export const openKafka: OpenLink<'kafka'> = async ({ config, ...settings }) => {
  const cluster = new Cluster(config, settings)
  await cluster.connect()
  return {
    isBroken: () => cluster.isBroken,
    close: () => cluster.close(),
    send: async (message) => {
      const topic = filledName(config.topic, message)
      try {
        return await cluster.produce(topic, message)
      } catch (error) {
        throw failureOf(error, { topic, message })
      }
    },
  }
}

class Cluster {
  isBroken = false
  readonly #config: Settings['config']
  readonly #settings: Omit<Settings, 'config'>
  readonly #connections = new Map<string, Promise<Connection>>()
  readonly #open = new Set<Connection>()
  readonly #topics = new Map<string, Promise<Leaders>>()

  constructor(config: Settings['config'], settings: Omit<Settings, 'config'>) {
    this.#config = config
    this.#settings = settings
  }

  async connect(): Promise<void> {
    try {
      await this.#connectionTo(this.#settings.place)
    } catch (error) {
      this.close()
      throw failureOf(error, undefined)
    }
  }

  /** Ends every connection immediately: the client would wait for the answers of requests under way. */
  close(): void {
    this.isBroken = true
    for (const connection of this.#open) connection.socket?.destroy()
    this.#open.clear()
  }

  async produce(topic: string, message: LinkMessage): Promise<string> {
    const leaders = await this.#leadersOf(topic)
    const key = Buffer.from(filledName(this.#config.key, message))
    const partition = (murmur2(key) & POSITIVE) % leaders.length
    const leader = leaders[partition]
    try {
      if (leader === undefined) throw new LinkFailure('refused', `A partition of ${topic} currently has no leader.`)
      const connection = await this.#connectionTo(leader)
      const record = {
        topic,
        partition,
        key,
        value: Buffer.from(message.body),
        headers: headersOf(message),
        timestamp: BigInt(message.receivedAt.getTime()),
      }
      const answer = await produceV7.api.async(connection, ACKS_ALL, LIMITS.deliveryTimeoutMsMax, [record])
      const offset = typeof answer === 'object' ? answer.responses[0]?.partitionResponses[0]?.baseOffset : undefined
      return `Stored in ${topic}, partition ${partition}, offset ${offset}`
    } catch (error) {
      // The leader may be another broker now.
      this.#topics.delete(topic)
      throw error
    }
  }

  #leadersOf(topic: string): Promise<Leaders> {
    const known = this.#topics.get(topic)
    if (known !== undefined) return known
    if (this.#topics.size >= TOPICS_MAX) this.#topics.clear()
    const asked = this.#askLeaders(topic)
    this.#topics.set(topic, asked)
    asked.catch(() => this.#topics.delete(topic))
    return asked
  }

  async #askLeaders(topic: string): Promise<Leaders> {
    const connection = await this.#connectionTo(this.#settings.place)
    const { brokers, topics } = await metadataOf(connection, topic)
    const byId = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]))
    const partitions = topics[0]?.partitions ?? []
    const leaders: (Broker | undefined)[] = Array.from({ length: partitions.length })
    for (const { partitionIndex, leaderId } of partitions)
      if (partitionIndex < leaders.length) leaders[partitionIndex] = byId.get(leaderId)
    if (!leaders.some((leader) => leader !== undefined))
      throw new LinkFailure('refused', `The topic ${topic} currently has no partition with a leader.`)
    return leaders
  }

  async #connectionTo(broker: Broker): Promise<Connection> {
    const name = `${broker.host}:${broker.port}`
    const known = this.#connections.get(name)
    if (known !== undefined) return known
    if (this.#connections.size >= BROKERS_MAX)
      throw new LinkFailure('refused', `The cluster names more than ${BROKERS_MAX} brokers.`)
    const opening = this.#connected(broker)
    this.#connections.set(name, opening)
    opening.catch(() => (this.isBroken = true))
    return opening
  }

  async #connected({ host, port }: Broker): Promise<Connection> {
    const { maxInFlight, openSocket, place } = this.#settings
    const socket = await openSocket({ units: KAFKA, opening: 'tls', host, port })
    const relay = await openRelay(socket)
    const connection = new KafkaConnection('postroad', {
      connectTimeout: LIMITS.deliveryConnectMs,
      // The caller ends the wait earlier.
      requestTimeout: LIMITS.deliveryTimeoutMsMax,
      maxInflights: maxInFlight,
      ...(place.user === null
        ? {}
        : {
            sasl: {
              mechanism: this.#config.sasl,
              username: place.user.name,
              password: place.user.password,
              authenticate: logIn,
            },
          }),
    })
    this.#open.add(connection)
    const broke = (): void => {
      this.isBroken = true
      this.#open.delete(connection)
    }
    connection.on('error', broke)
    connection.on('close', broke)
    try {
      await connection.connect(relay.host, relay.port)
    } catch (error) {
      socket.destroy()
      throw error
    }
    return connection
  }
}

/** The library rejects the whole answer when one partition has an error, although the others have leaders. */
async function metadataOf(connection: Connection, topic: string): Promise<Metadata> {
  try {
    return await metadataV8.api.async(connection, [topic], false)
  } catch (error) {
    if (!(error instanceof ResponseError) || !error.errors.every(isOfPartition)) throw error
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library puts the answer there after it has read it
    return error['response'] as Metadata
  }
}

const isOfPartition = (error: unknown): boolean =>
  error instanceof ProtocolError && String(error['path']).includes('/partitions/')

const headersOf = ({ headers }: LinkMessage): Map<Buffer, Buffer> =>
  new Map(Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)]))

/** An error, and the errors inside it. */
function chainOf(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return []
  const inside: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  return [error, ...inside.flatMap(chainOf), ...chainOf(error.cause)]
}

const NO_ACCESS = /AUTHORIZATION_FAILED|SASL_AUTHENTICATION_FAILED|SASL_MECHANISM|ILLEGAL_SASL_STATE/
const TOO_LARGE = /^(?:MESSAGE_TOO_LARGE|RECORD_LIST_TOO_LARGE)$/

type Of = { readonly topic: string; readonly message: LinkMessage }

function failureOf(error: unknown, of: Of | undefined): LinkFailure {
  if (error instanceof LinkFailure) return error
  const chain = chainOf(error)
  const ours = chain.find((one) => one instanceof LinkFailure)
  if (ours !== undefined) return ours
  const has = (code: string): boolean => chain.some((one) => 'code' in one && one.code === code)
  const refusal = chain.find((one) => 'apiId' in one)
  if (refusal !== undefined) return refusalOf(refusal, { id: String(refusal.apiId), of })
  if (has('PLT_KFK_AUTHENTICATION')) return noAccess(error)
  if (has('PLT_KFK_TIMEOUT')) return new LinkFailure('timeout', 'The broker did not accept a connection in time.')
  return linkFailure(chain.find((one) => 'code' in one && !String(one.code).startsWith('PLT_')) ?? error)
}

/** An error that the protocol of Kafka names. */
function refusalOf(error: Error, { id, of }: { readonly id: string; readonly of: Of | undefined }): LinkFailure {
  if (NO_ACCESS.test(id)) return noAccess(error)
  if (of !== undefined && TOO_LARGE.test(id)) return tooLarge(Buffer.byteLength(of.message.body), undefined)
  if (of !== undefined && id === 'UNKNOWN_TOPIC_OR_PARTITION')
    return new LinkFailure('refused', `The cluster has no topic ${of.topic}. Create it, or correct config.topic.`)
  return refusedBy(error, `The broker refused the event (${id}).`)
}
