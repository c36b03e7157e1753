import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventsAt, KAFKA_PASSWORD, KAFKA_TOPIC, kafkaAsApp, topicReady } from './kafka-client.ts'
import { aFolder, aFreePort, runServer, type Broker, type Server, type ServerTls, type StoredEvent } from './process.ts'

const CLUSTER = 'cG9zdHJvYWQtY2hhb3MtMQ'
const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const
const HOST = '127.0.0.1'

/** The class path of a broker, which Debian does not package: kafka_2.13 of Maven and its dependencies. */
export const kafkaServer = (): string | undefined => process.env['KAFKA_TEST_CLASSPATH']

/** One broker of Kafka that is its own controller, with PLAIN and SCRAM. With TLS it has a second port. */
export async function aKafka(classPath: string, tls?: ServerTls): Promise<Broker> {
  const [folder, port, controller] = [await aFolder('kafka'), await aFreePort(), await aFreePort()]
  const secure = tls === undefined ? undefined : { ...tls, port: await aFreePort() }
  const at = { host: HOST, port }
  const node = { id: 1, roles: 'broker,controller', ...at, controller, secure }
  const server = await runNode({ classPath, folder, node, ready: () => kafkaAsApp(at, (one) => topicReady(one, 1)) })
  return {
    ...server,
    name: 'kafka',
    members: membersAt(secure === undefined ? `kafka://${HOST}:${port}` : `kafkas://${secure.host}:${secure.port}`),
    stored: () => eventsAt(at),
  }
}

const membersAt = (url: string): Broker['members'] => ({
  url,
  config: { kind: 'kafka', topic: KAFKA_TOPIC, sasl: 'SCRAM-SHA-256' },
  auth: { kind: 'basic', username: 'app', password: KAFKA_PASSWORD },
})

export type KafkaCluster = {
  readonly members: Broker['members']
  readonly brokers: readonly (Server & { readonly host: string })[]
  /** All events, from the broker that leads every partition. */
  readonly storedAt: (broker: { readonly host: string; readonly port: number }) => Promise<readonly StoredEvent[]>
  readonly stop: () => Promise<void>
}

/** Two brokers with each event on both, and a controller beside them. Both addresses have one port, so one name reaches them. */
export async function aKafkaCluster(classPath: string, name: string): Promise<KafkaCluster> {
  const [port, controller] = [await aFreePort(), await aFreePort()]
  const node = async (members: Pick<Node, 'id' | 'roles' | 'host'>, ready: () => Promise<unknown>): Promise<Server> =>
    runNode({ classPath, folder: await aFolder('kafka'), node: { ...members, port, controller }, ready })
  const first = await node({ id: 1, roles: 'controller', host: HOST }, () => Promise.resolve())
  const hosts = ['127.0.0.2', '127.0.0.3']
  const brokers = await Promise.all(
    hosts.map(async (host, index) => ({
      ...(await node({ id: index + 2, roles: 'broker', host }, () =>
        kafkaAsApp({ host, port }, (one) => topicReady(one, hosts.length)),
      )),
      host,
    })),
  )
  return {
    members: membersAt(`kafka://${name}:${port}`),
    brokers,
    storedAt: ({ host }) => eventsAt({ host, port }),
    stop: async () => void (await Promise.all([...brokers, first].map((server) => server.stop()))),
  }
}

type Node = {
  readonly id: number
  readonly roles: string
  readonly host: string
  readonly port: number
  /** The port of the controller, which is node 1. */
  readonly controller: number
  readonly secure?: (ServerTls & { readonly port: number }) | undefined
}
type Run = {
  readonly classPath: string
  readonly folder: string
  readonly node: Node
  readonly ready: () => Promise<unknown>
}

function runNode({ classPath, folder, node, ready }: Run): Promise<Server> {
  const config = join(folder, 'server.properties')
  const java = ['-Xmx512m', '-cp', classPath]
  return runServer({
    folder,
    port: node.port,
    prepare: async () => {
      await writeFile(config, propertiesOf(folder, node).join('\n'))
      const users = MECHANISMS.filter((one) => one !== 'PLAIN').flatMap((mechanism) => [
        '--add-scram',
        `${mechanism}=[name=app,password=${KAFKA_PASSWORD}]`,
      ])
      const format = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER, '-c', config, ...users]
      await promisify(execFile)('java', [...java, ...format])
    },
    program: () => ({ file: 'java', args: [...java, 'kafka.Kafka', config] }),
    ready,
  })
}

function propertiesOf(folder: string, { id, roles, host, port, controller, secure }: Node): readonly string[] {
  const isBroker = roles.includes('broker')
  const listeners = [
    ...(isBroker ? [`CLIENTS://${host}:${port}`] : []),
    ...(secure === undefined ? [] : [`SECURE://${host}:${secure.port}`]),
  ]
  const announced = secure === undefined ? listeners : [listeners[0], `SECURE://${secure.host}:${secure.port}`]
  return [
    `process.roles=${roles}`,
    `node.id=${id}`,
    `controller.quorum.voters=1@${HOST}:${controller}`,
    `listeners=${[...listeners, ...(id === 1 ? [`CONTROLLER://${HOST}:${controller}`] : [])].join(',')}`,
    ...(isBroker ? [`advertised.listeners=${announced.join(',')}`, 'inter.broker.listener.name=CLIENTS'] : []),
    'listener.security.protocol.map=CLIENTS:SASL_PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT',
    'controller.listener.names=CONTROLLER',
    'sasl.mechanism.inter.broker.protocol=PLAIN',
    `sasl.enabled.mechanisms=${MECHANISMS.join(',')}`,
    ...['clients', 'secure'].flatMap(loginsOf),
    ...(secure === undefined ? [] : tlsSettings(secure)),
    `log.dirs=${join(folder, 'data')}`,
    'auto.create.topics.enable=false',
    'offsets.topic.replication.factor=1',
    // A dead broker loses its partitions within seconds.
    'broker.heartbeat.interval.ms=500',
    'broker.session.timeout.ms=3000',
  ]
}

const loginsOf = (listener: string): readonly string[] => {
  const module = 'org.apache.kafka.common.security'
  const start = `listener.name.${listener}`
  const scram = `${module}.scram.ScramLoginModule required;`
  const plain = `${module}.plain.PlainLoginModule required username="app" password="${KAFKA_PASSWORD}" user_app="${KAFKA_PASSWORD}";`
  return MECHANISMS.map(
    (mechanism) => `${start}.${mechanism.toLowerCase()}.sasl.jaas.config=${mechanism === 'PLAIN' ? plain : scram}`,
  )
}

/** Java accepts certificates as the values of properties. */
const tlsSettings = ({ ca, cert, key }: ServerTls): readonly string[] => {
  const start = 'listener.name.secure.ssl'
  return [
    `${start}.keystore.type=PEM`,
    `${start}.keystore.certificate.chain=${inOneLine(cert)}`,
    `${start}.keystore.key=${inOneLine(key)}`,
    `${start}.truststore.type=PEM`,
    `${start}.truststore.certificates=${inOneLine(ca)}`,
    `${start}.client.auth=required`,
  ]
}

const inOneLine = (pem: string): string => pem.trim().replaceAll('\n', '\\n')
