import { anElasticMq, elasticMq } from '../../chaos/brokers/elasticmq.ts'
import { aKafka, kafkaServer } from '../../chaos/brokers/kafka.ts'
import { aNats, natsServer } from '../../chaos/brokers/nats.ts'
import { anS3, s3Server } from '../../chaos/brokers/s3.ts'
import type { World } from '../stage/harness.ts'
import { testKind } from '../stage/kind-tests.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Destinations beyond HTTP, with real servers that no package of Debian has: environment variables name them. */
let made: World

onWorldStage(
  ({ world }) => {
    made = world
  },
  { loops: [] },
)
const world = (): World => made

const nats = natsServer()
testKind({
  name: 'nats',
  open: nats === undefined ? undefined : () => aNats(nats),
  remedy: 'set NATS_SERVER to the path of nats-server to run them.',
  world,
  dedupes: true,
  answer: /^Stored in EVENTS as \d+/,
})

const s3 = s3Server()
testKind({
  name: 's3',
  open: s3 === undefined ? undefined : () => anS3(s3),
  remedy: 'set VERSITYGW to the path of versitygw to run them.',
  world,
  dedupes: true,
  answer: /^Stored in s3:\/\/events\/events\/d\d+\/\d{4}\/\d\d\/\d\d\/rec_\w+-1-[0-9a-f]{16}\.ndjson, with 1 event$/,
})

const queues = elasticMq()
testKind({
  name: 'sqs, with ElasticMQ',
  open: queues === undefined ? undefined : () => anElasticMq(queues),
  remedy: 'set ELASTICMQ to the class path of ElasticMQ to run them.',
  world,
  dedupes: true,
  answer: /^Sent as [0-9a-f-]{36}/,
  takesAnySecret: true,
})

const kafka = kafkaServer()
testKind({
  name: 'kafka',
  open: kafka === undefined ? undefined : () => aKafka(kafka),
  remedy: 'set KAFKA_TEST_CLASSPATH to the class path of a Kafka broker to run them.',
  world,
  dedupes: false,
  answer: /^Stored in events, partition [0-2], offset \d+$/,
})
