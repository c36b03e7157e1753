import { Connection, createTopicsV7, fetchV4, metadataV8 } from '@platformatic/kafka'
import type { StoredEvent } from './process.ts'

/** Questions of the tests to a cluster of Kafka, as its user `app`. */

export const KAFKA_TOPIC = 'events'
export const KAFKA_PASSWORD = 'kafka-password'
const PARTITIONS = 3
const BYTES_MAX = 50_000_000
const TRIES_MS = 5_000

type At = { readonly host: string; readonly port: number }

/** Creates the topic when it does not exist, and rejects until each partition has a leader and all of its replicas. */
export async function topicReady(connection: Connection, replicas: number): Promise<void> {
  const { topics } = await metadataV8.api.async(connection, [KAFKA_TOPIC], false).catch(() => ({ topics: [] }))
  const partitions = topics[0]?.partitions ?? []
  if (partitions.length === PARTITIONS && partitions.every(({ isrNodes }) => isrNodes.length === replicas)) return
  const wanted = {
    name: KAFKA_TOPIC,
    numPartitions: PARTITIONS,
    replicationFactor: replicas,
    assignments: [],
    configs: [],
  }
  await createTopicsV7.api.async(connection, [wanted], TRIES_MS, false)
  throw new Error('The topic was created just now.')
}

/** The address of the leader of each partition. */
export async function leadersAt(at: At): Promise<readonly At[]> {
  const { brokers, topics } = await kafkaAsApp(at, (connection) =>
    metadataV8.api.async(connection, [KAFKA_TOPIC], false),
  )
  const partitions = (topics[0]?.partitions ?? []).toSorted((a, b) => a.partitionIndex - b.partitionIndex)
  return partitions.map(({ leaderId }) => {
    const leader = brokers.find(({ nodeId }) => nodeId === leaderId)
    if (leader === undefined) throw new Error('A partition has no leader now.')
    return leader
  })
}

/** All events of a topic whose partitions all have the same leader. */
export async function eventsAt(at: At): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = []
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    // oxlint-disable-next-line no-await-in-loop -- one partition after the other
    found.push(...(await kafkaAsApp(at, (connection) => messagesIn(connection, partition))))
  return found
}

async function messagesIn(connection: Connection, partition: number): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = []
  for (let fetchOffset = 0n; ;) {
    const at = { partition, currentLeaderEpoch: -1, fetchOffset, lastFetchedEpoch: -1, partitionMaxBytes: BYTES_MAX }
    const topic = [{ topicId: KAFKA_TOPIC, partitions: [at] }]
    // oxlint-disable-next-line no-await-in-loop -- one page after the other
    const { responses } = await fetchV4.api.async(connection, 0, 1, BYTES_MAX, 0, 0, 0, topic, [], '')
    const batches = responses[0]?.partitions[0]?.records ?? []
    const last = batches.at(-1)
    if (last === undefined) return found
    fetchOffset = last.firstOffset + BigInt(last.lastOffsetDelta) + 1n
    const records = batches.flatMap((batch) => batch.records)
    found.push(...records.map(({ key, value }) => ({ id: String(key), body: String(value) })))
  }
}

export async function kafkaAsApp<T>({ host, port }: At, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = new Connection('chaos', {
    connectTimeout: TRIES_MS,
    requestTimeout: TRIES_MS,
    sasl: { mechanism: 'SCRAM-SHA-256', username: 'app', password: KAFKA_PASSWORD },
  })
  connection.on('error', () => undefined)
  try {
    await connection.connect(host, port)
    return await work(connection)
  } finally {
    connection.socket?.destroy()
  }
}
