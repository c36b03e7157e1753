import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kafkaServer } from '../../chaos/brokers/kafka.ts'
import { kinds } from '../../chaos/scenarios/kinds.ts'
import { assertCaught, aStorm, SEED } from '../stage/storms.ts'

/** PostgreSQL, Pub/Sub, and two of the brokers that this machine has. */
const AT = { seed: SEED, rounds: 4, ratePerSecond: 30 }
const LOST = /^(acknowledged|stored), never delivered: \d+/
const noKafka = kafkaServer() === undefined && 'KAFKA_TEST_CLASSPATH names no Kafka'

describe('brokers that are killed behind their destinations', { concurrency: 1 }, () => {
  test('a server that counts events as taken before their broker confirms them is caught', async () => {
    await assertCaught(kinds, { ...AT, plant: 'taken-before-confirm' }, LOST)
  })

  test('a server that counts a request to Pub/Sub as answered when it is sent is caught', async () => {
    await assertCaught(kinds, { ...AT, plant: 'published-before-answer' }, LOST)
  })

  test('a server that asks Kafka for no acknowledgment is caught', { skip: noKafka }, async () => {
    await assertCaught(kinds, { ...AT, plant: 'kafka-without-acks' }, LOST)
  })

  test('a plant for a broker that this machine lacks is refused', { skip: noKafka === false }, async () => {
    await assert.rejects(aStorm(kinds, { ...AT, plant: 'kafka-without-acks' }), /shows only in kafka, which is not/)
  })
})
