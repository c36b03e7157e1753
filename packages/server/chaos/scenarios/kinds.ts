import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Rng } from '../../sim/rng.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { anElasticMq, elasticMq } from '../brokers/elasticmq.ts'
import { aKafka, kafkaServer } from '../brokers/kafka.ts'
import { aNats, natsServer } from '../brokers/nats.ts'
import { aPostgres } from '../brokers/postgres.ts'
import type { Broker, StoredEvent } from '../brokers/process.ts'
import { aPubsub } from '../brokers/pubsub.ts'
import { aRabbit, rabbitServer } from '../brokers/rabbitmq.ts'
import { aRedis, redisServer } from '../brokers/redis.ts'
import { anS3, s3Server } from '../brokers/s3.ts'
import { factsOf, promise, ROAD_CHECKS, type Finding } from '../checks.ts'
import { closeBreakers } from '../destinations.ts'
import type { DestinationFact, Evidence } from '../evidence.ts'
import { counted, loadFigures } from '../figures.ts'
import { eventOf } from '../payload.ts'
import type { PlantName } from '../plants.ts'
import { killSender, sendThrough } from '../road.ts'
import { defineScenario, type Outcome, type Request } from '../scenario.ts'
import type { Receipt } from '../sink.ts'
import type { Stage } from '../stage.ts'

const DATASET = 'orders'
const IN_FLIGHT = 20
/** Far longer than a server hangs: an event that times out may be stored twice, and a busy machine can be slow. */
const TIMEOUT_MS = 30_000
/** A server hangs for up to this long before it dies. */
const HANG_MS_MAX = 400
/** A dead server stays away for up to this long. */
const DEAD_MS_MAX = 1_500
/** In every so many rounds the sender dies too. */
const SENDER_DIES_EVERY = 3

/** Real brokers die and come back under load: no event is lost, and no more events arrive twice than were in flight. */
export const kinds = defineScenario({
  name: 'kinds',
  about:
    'SIGKILL of PostgreSQL, Pub/Sub, Kafka, Redis, RabbitMQ, NATS, SQS and S3 servers behind destinations: nothing is lost, and repeats ≤ in flight',
  rounds: 16,
  ratePerSecond: 60,
  play,
})

async function play(stage: Stage, request: Request): Promise<Outcome> {
  const brokers: Broker[] = []
  try {
    await openBrokers(request, brokers)
    const made: DestinationFact[] = []
    const kills = new Map<string, number>()
    const { evidence, stopped } = await sendThrough(stage, request, {
      receivers: [],
      percent: { [DATASET]: 100 },
      prepare: async () => void made.push(...(await createAll(stage, brokers))),
      storm: ({ blows }) =>
        strike(stage, { request, brokers, kills, senderDies: (rng) => killSender(stage, { rng, blows }) }),
      heal: () => closeBreakers(stage, made),
    })
    const seen = new Map<string, readonly StoredEvent[]>()
    // oxlint-disable-next-line no-await-in-loop -- one broker after the other
    for (const broker of brokers) seen.set(broker.name, await broker.stored())
    return judge({ ...evidence, destinations: made }, { seen, kills, stopped })
  } finally {
    await Promise.all(brokers.map((broker) => broker.stop()))
  }
}

/** The broker in which a defect shows. Without it the run would pass. */
const SHOWS_IN: Readonly<Record<string, string>> = { 'kafka-without-acks': 'kafka' } satisfies Partial<
  Record<PlantName, string>
>

/**
 * Opens the brokers whose servers this machine has, and adds each to `opened`, so that the caller can stop them even when a later one
 * fails. PostgreSQL and a local server with the API of Pub/Sub are always there.
 */
async function openBrokers({ plant = '', say, signal }: Request, opened: Broker[]): Promise<void> {
  const all = [
    { name: 'postgres', open: () => aPostgres(), isThere: true },
    { name: 'pubsub', open: () => aPubsub(), isThere: true },
    { name: 'kafka', open: () => aKafka(kafkaServer() ?? ''), isThere: kafkaServer() !== undefined },
    { name: 'redis', open: () => aRedis(redisServer() ?? ''), isThere: redisServer() !== undefined },
    { name: 'rabbitmq', open: () => aRabbit(rabbitServer() ?? ''), isThere: rabbitServer() !== undefined },
    { name: 'nats', open: () => aNats(natsServer() ?? ''), isThere: natsServer() !== undefined },
    { name: 'sqs', open: () => anElasticMq(elasticMq() ?? ''), isThere: elasticMq() !== undefined },
    { name: 's3', open: () => anS3(s3Server() ?? ''), isThere: s3Server() !== undefined },
  ]
  const missing = all.find(({ name, isThere }) => SHOWS_IN[plant] === name && !isThere)
  if (missing !== undefined)
    throw new Error(`${plant} shows only in ${missing.name}, which is not installed, so this run would prove nothing.`)
  for (const { name, open, isThere } of all) {
    signal.throwIfAborted()
    // oxlint-disable-next-line no-await-in-loop -- one server after the other
    if (isThere) opened.push(await open())
    else say(`${name} is not installed, so it is left out`)
  }
}

function createAll(stage: Stage, brokers: readonly Broker[]): Promise<readonly DestinationFact[]> {
  return Promise.all(
    brokers.map(async ({ name, members }) => {
      const created = await stage.admin('POST', 'destinations', {
        ...members,
        name,
        datasets: [DATASET],
        max_in_flight: IN_FLIGHT,
        timeout_ms: TIMEOUT_MS,
      })
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer to a created destination
      const { destination } = created as { destination: { id: string } }
      return { id: destination.id, name, datasets: [DATASET], maxInFlight: IN_FLIGHT }
    }),
  )
}

type Storm = {
  readonly request: Request
  readonly brokers: readonly Broker[]
  readonly kills: Map<string, number>
  readonly senderDies: (rng: Rng) => Promise<number>
}

/** Each round kills one broker that hangs under load, and starts it again; in some rounds the sender dies meanwhile. */
async function strike(stage: Stage, { request, brokers, kills, senderDies }: Storm): Promise<string | null> {
  const { seed, rounds, signal, say } = request
  const rng = new Rng(seed + 3)
  for (let round = 0; round < rounds; round += 1) {
    const broker = brokers[round % brokers.length]
    if (broker === undefined) return 'There is no broker'
    /* oxlint-disable no-await-in-loop -- rounds come one after the other */
    await sleep(rng.int(200, 1_200), undefined, { signal })
    const [hangMs, deadMs] = [rng.int(100, HANG_MS_MAX), rng.int(100, DEAD_MS_MAX)]
    const both = round % SENDER_DIES_EVERY === SENDER_DIES_EVERY - 1
    say(
      `round ${round + 1} of ${rounds}: ${broker.name} hangs for ${hangMs} ms, then is away for ${deadMs} ms${both ? ', and the sender dies' : ''}`,
    )
    broker.hang()
    await sleep(hangMs, undefined, { signal })
    await broker.kill()
    kills.set(broker.name, (kills.get(broker.name) ?? 0) + 1)
    if (both) {
      await senderDies(rng)
      for (const { name } of brokers) kills.set(name, (kills.get(name) ?? 0) + 1)
    }
    await sleep(deadMs, undefined, { signal })
    await broker.start()
    if (both) await stage.ready()
    /* oxlint-enable no-await-in-loop */
  }
  await sleep(1_000, undefined, { signal })
  return null
}

/** Promises about requests and their signatures, which a broker does not store. */
const NOT_SEEN: readonly string[] = ['signature not valid', 'delivery id used twice', 'received without an attempt row']

type Seen = {
  readonly seen: ReadonlyMap<string, readonly StoredEvent[]>
  readonly kills: ReadonlyMap<string, number>
  readonly stopped: string | null
}

function judge(evidence: Evidence, { seen, kills, stopped }: Seen): Outcome {
  const receipts = [...seen].flatMap(([name, events]) => events.map((event, index) => receiptOf(name, event, index)))
  const facts = factsOf({ ...evidence, receipts })
  const findings = [
    ...ROAD_CHECKS.map((check) => check(facts)).filter(({ check }) => !NOT_SEEN.includes(check)),
    ...[...seen].map(([name, events]) => repeats({ name, events, kills: kills.get(name) ?? 0 })),
    promise(
      'brokers that stored nothing',
      [...seen].flatMap(([name, events]) => (events.length === 0 ? [name] : [])),
    ),
  ]
  const figures = [
    ...loadFigures({ ...evidence, receipts }),
    ...[...seen].map(([name, events]) =>
      counted(`${name}: killed / events`, `${kills.get(name) ?? 0} / ${events.length}`),
    ),
  ]
  return { findings, figures, stopped }
}

/** An event in a broker, as if a receiver had seen it. */
// oxlint-disable-next-line max-params -- the broker, the event, and its number there
function receiptOf(name: string, { id, body }: StoredEvent, index: number): Receipt {
  const data = body.slice(body.indexOf(DATA) + DATA.length, -1)
  return {
    destination: name,
    record: id,
    attempt: `${name} ${index}`,
    event: eventOf(data),
    at: systemClock().now(),
    at_once: 1,
    succeeded: 0,
    answered: 200,
    signature: 'valid',
    body_sha256: sha256(body),
    data_sha256: sha256(data),
  }
}

const DATA = '"data":'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Only events that were in flight when a broker or the sender died may be stored twice. */
function repeats({ name, events, kills }: { name: string; events: readonly StoredEvent[]; kills: number }): Finding {
  const found = events.length - new Set(events.map(({ id }) => id)).size
  const allowed = kills * IN_FLIGHT
  return { check: `repeats in ${name} (at most kills × in flight)`, found, allowed, ok: found <= allowed, examples: [] }
}
