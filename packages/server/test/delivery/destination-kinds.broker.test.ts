import { aPostgres } from '../../chaos/brokers/postgres.ts'
import { aRabbit, rabbitServer } from '../../chaos/brokers/rabbitmq.ts'
import { aRedis, redisServer } from '../../chaos/brokers/redis.ts'
import type { World } from '../stage/harness.ts'
import { testKind } from '../stage/kind-tests.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Destinations beyond HTTP, each with a real server that the tests kill and start again. */
let made: World

onWorldStage(
  ({ world }) => {
    made = world
  },
  { loops: [] },
)
const world = (): World => made

testKind({
  name: 'postgres',
  open: aPostgres,
  remedy: '',
  world,
  dedupes: true,
  answer: /^INSERT 0 [01]/,
})

const redis = redisServer()
testKind({
  name: 'redis_stream',
  open: redis === undefined ? undefined : () => aRedis(redis),
  remedy: 'install the package redis-server to run them.',
  world,
  dedupes: false,
  answer: /^XADD \d+-\d+$/,
})

const rabbit = rabbitServer()
testKind({
  name: 'amqp',
  open: rabbit === undefined ? undefined : () => aRabbit(rabbit),
  remedy: 'install the package rabbitmq-server to run them.',
  world,
  dedupes: false,
  answer: /^Confirmed by the broker$/,
})
