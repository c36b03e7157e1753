import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { Text } from './list.ts'

/** The kinds of destinations, and the settings of each. The address is `url`, and the credentials are `auth` and `tls`, for every kind. */

export const DESTINATION_KINDS = [
  'http',
  'postgres',
  'redis_stream',
  'amqp',
  'nats',
  'kafka',
  'sqs',
  'sns',
  'pubsub',
  's3',
  'smtp',
  'postroad',
] as const
export type DestinationKind = (typeof DESTINATION_KINDS)[number]

const Encryption = z
  .enum(['verify', 'off'])
  .describe('`off` sends everything in plain text, and is allowed only to addresses in OUTBOUND_ALLOW.')

/** Plain names, which need no quotes in SQL, so that nothing in them can be read as SQL. */
const SqlName = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be a name in lower case, without quotes')
const Table = z
  .string()
  .regex(/^(?:[a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$/, 'must be a table, or a schema, a dot and a table')
  .describe('A table, or a schema and a table, such as `public.events`.')

const PLACES = 'It may contain `{dataset}` and `{id}`, which stand for the dataset and the id of the event.'
const Pattern = Text.min(1).max(LIMITS.destinationNameCharsMax)
/** Dots divide a subject or a routing key into parts, and a wildcard is only for readers. */
const Subject = Pattern.regex(/^[^\s*>]+$/, 'must not contain spaces or wildcards')
const KAFKA_MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const

const Region = z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be a region, such as eu-central-1')
const Group = Text.min(1)
  .max(128)
  .regex(/^[!-~]+$/, 'may contain only printable ASCII characters without spaces')
  .default('{dataset}')
export const MailAddress = Text.max(320).regex(/^[^\s@<>,;"]+@[^\s@<>,;"]+$/, 'must be one email address')

const Http = z
  .strictObject({
    kind: z.literal('http'),
    batch: z
      .strictObject({
        max: z
          .int()
          .min(LIMITS.requestEventsMin)
          .max(LIMITS.requestEventsMax)
          .describe('The most events in a request; at most max_in_flight.'),
        linger_ms: z
          .int()
          .min(LIMITS.batchLingerMsMin)
          .max(LIMITS.requestLingerMsMax)
          .describe('The longest time that an event waits for others.'),
      })
      .optional()
      .describe(
        `One request has a JSON array of the bodies of several events, ${LIMITS.requestBatchBytesMax / 1_048_576} MiB at most. Its answer is the outcome of all of them. Absent: one event per request.`,
      ),
  })
  .describe('One POST request per event, or per batch.')
const Postgres = z
  .strictObject({
    kind: z.literal('postgres'),
    table: Table,
    columns: z
      .strictObject({
        id: SqlName.default('id').describe('The id of the event. It needs a unique index.'),
        dataset: SqlName.nullable().default('dataset'),
        received_at: SqlName.nullable().default('received_at'),
        body: SqlName.default('body').describe('The body, as JSON.'),
      })
      .default({ id: 'id', dataset: 'dataset', received_at: 'received_at', body: 'body' })
      .describe('The columns to write; null: none.'),
    encryption: Encryption.default('verify'),
  })
  .describe('One table row per event. `url` is `postgres://host:5432/database`.')
const RedisStream = z
  .strictObject({
    kind: z.literal('redis_stream'),
    stream: Pattern.describe(`The key of the stream. ${PLACES}`),
    length_max: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .nullable()
      .default(null)
      .describe('Redis trims the stream to about this length; null: never.'),
    dedupe_seconds: z
      .int()
      .min(1)
      .max(604_800)
      .nullable()
      .default(null)
      .describe(
        'An event that is sent again within this time is not appended twice. Redis stores one key per event for this time. Null: duplicates are appended.',
      ),
  })
  .describe('One stream entry per event. `url` is `redis://host:6379/0`, or `rediss://` with TLS.')
const Amqp = z
  .strictObject({
    kind: z.literal('amqp'),
    exchange: Text.max(LIMITS.destinationNameCharsMax).default('').describe('Empty: the default exchange.'),
    routing_key: Pattern.describe(`With the default exchange, the queue name. ${PLACES}`),
  })
  .describe(
    'One persistent message per event, confirmed by the broker. `url` is `amqp://host:5672/vhost`, or `amqps://` with TLS; without a path the vhost is `/`.',
  )
const Nats = z
  .strictObject({
    kind: z.literal('nats'),
    subject: Subject.describe(`A subject that a JetStream stream stores. ${PLACES}`),
    stream: Text.min(1)
      .max(255)
      .nullable()
      .default(null)
      .describe('The stream that must store the event; null: any stream with this subject.'),
  })
  .describe('A message that JetStream stores. `url` is `nats://host:4222`, or `tls://` with TLS.')
const Kafka = z
  .strictObject({
    kind: z.literal('kafka'),
    topic: Text.min(1)
      .max(249)
      .regex(/^[A-Za-z0-9._{}-]+$/, 'may contain letters, digits and . _ -')
      .describe(`The topic, which must exist. ${PLACES}`),
    key: Pattern.default('{id}').describe(
      `The key of the message. Messages with one key are in one partition, in order. ${PLACES}`,
    ),
    sasl: z
      .enum(KAFKA_MECHANISMS)
      .default('PLAIN')
      .describe('How the user name and the password of `auth` are sent. Without them there is no SASL.'),
  })
  .describe('A message that all in-sync replicas have. `url` is `kafka://host:9092`, or `kafkas://` with TLS.')
const Sqs = z
  .strictObject({
    kind: z.literal('sqs'),
    region: Region,
    group: Group.describe(
      `The message group, for FIFO queues only, whose names end in \`.fifo\`. Messages of one group stay in order. ${PLACES}`,
    ),
  })
  .describe(
    'A message in a queue of Amazon SQS. `url` is that of the queue, such as `https://sqs.eu-central-1.amazonaws.com/123456789012/events`.',
  )
const Sns = z
  .strictObject({
    kind: z.literal('sns'),
    topic_arn: z
      .string()
      .regex(
        /^arn:aws[a-z-]*:sns:[a-z0-9-]{1,64}:\d{12}:[A-Za-z0-9_-]{1,256}(?:\.fifo)?$/,
        'must be the ARN of a topic, such as arn:aws:sns:eu-central-1:123456789012:events',
      )
      .describe('The topic. Its region is the region of the request.'),
    group: Group.describe(
      `The message group, for FIFO topics only, whose names end in \`.fifo\`. Messages of one group stay in order. ${PLACES}`,
    ),
  })
  .describe(
    'A message of a topic of Amazon SNS. `url` is the endpoint, such as `https://sns.eu-central-1.amazonaws.com`.',
  )
const Pubsub = z
  .strictObject({
    kind: z.literal('pubsub'),
    topic: z
      .string()
      .regex(
        /^projects\/[a-z0-9:.-]{1,64}\/topics\/[A-Za-z][A-Za-z0-9._~+%-]{2,254}$/,
        'must be the full name of a topic, such as projects/acme/topics/events',
      ),
    ordering_key: Pattern.nullable()
      .default(null)
      .describe(`Messages with one key stay in order for subscriptions with ordering; null: no key. ${PLACES}`),
  })
  .describe(
    'A message of a topic of Google Pub/Sub. `url` is the endpoint: `https://pubsub.googleapis.com`, or that of a region.',
  )
const S3 = z
  .strictObject({
    kind: z.literal('s3'),
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket'),
    region: Region,
    prefix: Text.max(512)
      .regex(/^[A-Za-z0-9!_.*'()/=-]*$/, 'may contain letters, digits and - _ . / =')
      .default('events/')
      .describe('The start of the name of each object.'),
    format: z.enum(['ndjson', 'parquet']).default('ndjson'),
    linger_ms: z
      .int()
      .min(LIMITS.batchLingerMsMin)
      .max(LIMITS.batchLingerMsMax)
      .default(LIMITS.batchLingerMsDefault)
      .describe('Postroad writes an object after this time, or when it contains max_in_flight events.'),
    path_style: z.boolean().default(true).describe('The bucket is in the path, not in the host name.'),
  })
  .describe(
    'Objects that contain many events. `url` is the endpoint, such as `https://s3.eu-central-1.amazonaws.com`. An object has at most max_in_flight events; without max_in_flight a new destination has ' +
      `${LIMITS.maxInFlightOfBatches}.`,
  )
const Smtp = z
  .strictObject({
    kind: z.literal('smtp'),
    from: MailAddress,
    to: z.array(MailAddress).min(1).max(LIMITS.mailRecipientsMax),
    subject: Pattern.default('{dataset}: {id}').describe(PLACES),
    encryption: Encryption.default('verify').describe(
      'For `smtp://`: STARTTLS is required, or off. `off` is allowed only to addresses in OUTBOUND_ALLOW.',
    ),
  })
  .describe('An email with the event. `url` is `smtp://host:587` with STARTTLS, or `smtps://host:465`.')
const Postroad = z
  .strictObject({ kind: z.literal('postroad') })
  .describe(
    'An endpoint on another Postroad installation. `url` is its public URL. An event that is sent again has the same idempotency key, so it is stored once.',
  )

export const DestinationConfig = z
  .discriminatedUnion('kind', [Http, Postgres, RedisStream, Amqp, Nats, Kafka, Sqs, Sns, Pubsub, S3, Smtp, Postroad], {
    error: `The kind is one of ${DESTINATION_KINDS.join(', ')}.`,
  })
  .describe('The kind of the destination, which never changes, and the settings of this kind.')
export type DestinationConfig = z.output<typeof DestinationConfig>
