import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Cloud } from '../../chaos/brokers/cloud.ts'
import { aPubsub, aServiceAccountKey, PUBSUB_TOPIC } from '../../chaos/brokers/pubsub.ts'
import { anSns, anSqs } from '../stage/cloud-server.ts'
import { aRoute, type Delivery, type Route } from '../stage/delivery-routes.ts'
import { aName } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { testKind } from '../stage/kind-tests.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Destinations in clouds, by local servers that speak their protocols and check their signatures. */
let made: World

onWorldStage(
  ({ world }) => {
    made = world
  },
  { loops: [] },
)
const world = (): World => made

testKind({ name: 'sqs', open: anSqs, remedy: '', world, dedupes: true, answer: /^Sent as m-1, number \d+$/ })
testKind({ name: 'sns', open: anSns, remedy: '', world, dedupes: false, answer: /^Published as m-1$/ })
testKind({
  name: 'pubsub',
  open: aPubsub,
  remedy: '',
  world,
  dedupes: false,
  answer: /^Published as 4711$/,
  wrongSecret: aServiceAccountKey().privateKey,
})

/** A delivery to this cloud in its end state, or after its first failure. */
async function sent(
  cloud: Cloud,
  { body, ...members }: { body?: string; url?: string; config?: object },
): Promise<{ to: Route; delivery: Delivery; record: string }> {
  const to = await aRoute(world(), cloud.members.url, { ...cloud.members, ...members })
  const record = await to.send(body)
  return { to, record, delivery: await to.in(record, 'delivered', 'retrying', 'failed') }
}

const createWith = ({ members }: Cloud, private_key: string) =>
  world().admin('POST', 'destinations', {
    name: aName('destination'),
    ...members,
    auth: { ...(members['auth'] as object), private_key },
  })
const endOf = ({ delivery }: { delivery: Delivery }) => [delivery.state, delivery.attempts[0].error_code]

describe('a message in a cloud', () => {
  let sqs: Cloud
  let sns: Cloud
  let pubsub: Cloud
  before(async () => {
    ;[sqs, sns, pubsub] = [await anSqs(), await anSns(), await aPubsub()]
  })
  after(() => Promise.all([sqs.stop(), sns.stop(), pubsub.stop()]))

  test('a message of a FIFO queue has its group, the event as its deduplication id, and a signature that verifies', async () => {
    const { to, record } = await sent(sqs, { config: { ...sqs.members.config, group: 'of-{dataset}' } })
    const message = JSON.parse(sqs.asked.at(-1)?.body ?? '')
    assert.deepEqual([message.MessageGroupId, message.MessageDeduplicationId], [`of-${to.dataset}`, record])
    const { id, dataset, ...attributes } = message.MessageAttributes
    assert.deepEqual([id.StringValue, dataset.StringValue, id.DataType], [record, to.dataset, 'String'])
    const key = Buffer.from(to.secret.replace('whsec_', ''), 'base64')
    const content = `${record}.${attributes['webhook-timestamp'].StringValue}.${message.MessageBody}`
    const signature = createHmac('sha256', key).update(content).digest('base64')
    assert.equal(attributes['webhook-signature'].StringValue, `v1,${signature}`)
  })

  test('a message of a FIFO topic has its group and its deduplication id, and a message of a standard topic has neither', async () => {
    const topic_arn = 'arn:aws:sns:eu-central-1:123456789012:events'
    const { to, record } = await sent(sns, { config: { kind: 'sns', topic_arn: `${topic_arn}.fifo` } })
    const fifo = new URLSearchParams(sns.asked.at(-1)?.body)
    assert.deepEqual([fifo.get('MessageGroupId'), fifo.get('MessageDeduplicationId')], [to.dataset, record])
    await sent(sns, {})
    const plain = new URLSearchParams(sns.asked.at(-1)?.body)
    assert.deepEqual([plain.get('MessageGroupId'), plain.get('MessageDeduplicationId')], [null, null])
  })

  test('an event that is too large for a topic fails for good', async () => {
    const { delivery } = await sent(sns, { body: JSON.stringify({ text: 'x'.repeat(270_000) }) })
    assert.deepEqual([delivery.state, delivery.attempts[0].error_code], ['failed', 'event_too_large'])
    assert.match(
      delivery.attempts[0].error_detail,
      /^The event has 27\d{4} bytes with its attributes, which is more than SNS accepts/,
    )
  })

  test('an event that is too large for a queue fails for good', async () => {
    const { delivery } = await sent(sqs, { body: JSON.stringify({ text: 'x'.repeat(1_048_450) }) })
    assert.deepEqual([delivery.state, delivery.attempts[0].error_code], ['failed', 'event_too_large'])
    assert.match(delivery.attempts[0].error_detail, /more than SQS accepts \(1048576 bytes\)/)
  })

  test('a delivery to a missing queue or topic quotes the error of the service, and is retried', async () => {
    const queue = await sent(sqs, { url: sqs.members.url.replace('events.fifo', 'other.fifo') })
    assert.equal(queue.delivery.state, 'retrying')
    assert.deepEqual(
      [queue.delivery.attempts[0].error_code, queue.delivery.attempts[0].error_detail],
      ['refused', 'SQS refused the event. It says: QueueDoesNotExist: The specified queue does not exist.'],
    )
    const topic = await sent(sns, { config: { kind: 'sns', topic_arn: 'arn:aws:sns:eu-central-1:123456789012:other' } })
    assert.match(topic.delivery.attempts[0].error_detail, /It says: NotFound: Topic does not exist/)
  })

  test('a Pub/Sub message has the headers of a webhook, and an ordering key only if the destination sets one', async () => {
    const config = { kind: 'pubsub', topic: PUBSUB_TOPIC, ordering_key: 'of-{dataset}' }
    const { to, record } = await sent(pubsub, { config })
    const { orderingKey, attributes } = JSON.parse(pubsub.asked.at(-1)?.body ?? '').messages[0]
    assert.equal(orderingKey, `of-${to.dataset}`)
    assert.deepEqual([attributes['webhook-id'], attributes['content-type']], [record, 'application/json'])
    assert.match(attributes['webhook-signature'], /^v1,/)
    assert.equal(attributes.authorization, undefined)
    await sent(pubsub, {})
    assert.equal(JSON.parse(pubsub.asked.at(-1)?.body ?? '').messages[0].orderingKey, undefined)
  })

  test('a delivery to a missing Pub/Sub topic quotes its error, and an event that Pub/Sub refuses as too large fails for good', async () => {
    const other = await sent(pubsub, { config: { kind: 'pubsub', topic: `${PUBSUB_TOPIC}-other` } })
    assert.equal(
      other.delivery.attempts[0].error_detail,
      'Pub/Sub refused the event. It says: NOT_FOUND: Resource not found (resource=other).',
    )
    const message = 'The value for message_size is too large.'
    pubsub.answers = { status: 400, body: JSON.stringify({ error: { status: 'INVALID_ARGUMENT', message } }) }
    const large = await sent(pubsub, {})
    pubsub.answers = undefined
    assert.deepEqual(endOf(large), ['failed', 'event_too_large'])
  })

  test('the key of a service account is checked when it is saved, and is accepted with lost line breaks', async () => {
    const wrong = await createWith(pubsub, '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----')
    assert.deepEqual([wrong.status, wrong.body.reason], [400, 'invalid_request'])
    assert.match(wrong.body.error, /^auth\.private_key must be the private_key of the JSON key/)
    const { privateKey } = aServiceAccountKey()
    for (const form of [privateKey.replaceAll('\n', ' '), privateKey.replaceAll('\n', '\\n')]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, body } = await createWith(pubsub, form)
      assert.equal(status, 201, JSON.stringify(body))
      const { kind, client_email, has_secret, ...more } = body.destination.auth
      assert.deepEqual(
        [kind, client_email, has_secret, more],
        ['google', 'postroad@acme.iam.gserviceaccount.com', true, {}],
      )
    }
  })

  const WRONG = { status: 200, body: '<html>Welcome</html>' }
  for (const kind of ['sqs', 'sns', 'pubsub'] as const) {
    test(`${kind}: an answer without a message id is a refusal, and the delivery is retried`, async () => {
      const cloud = { sqs, sns, pubsub }[kind]
      cloud.answers = WRONG
      const { delivery } = await sent(cloud, {})
      cloud.answers = undefined
      assert.deepEqual([delivery.state, delivery.attempts[0].error_code], ['retrying', 'refused'])
      assert.match(delivery.attempts[0].error_detail, /has no message id/)
    })

    test(`${kind}: a 503 is a bad status, and a 410 does not disable the destination`, async () => {
      const cloud = { sqs, sns, pubsub }[kind]
      cloud.answers = { status: 503, body: '' }
      const busy = await sent(cloud, {})
      cloud.answers = { status: 410, body: '' }
      const gone = await sent(cloud, {})
      cloud.answers = undefined
      assert.deepEqual(
        [endOf(busy), endOf(gone)],
        [
          ['retrying', 'bad_status'],
          ['retrying', 'refused'],
        ],
      )
    })
  }
})
