import type { AuthKind, DestinationKind, DestinationPreset } from '@postroad/contract'

/** A kind of destination beyond HTTP, as a choice for a new one. `config` is the text to start from. */
export type KindPreset = DestinationPreset & { readonly config: string; readonly maxInFlight?: number }

type Of = {
  readonly kind: Exclude<DestinationKind, 'http'>
  readonly name: string
  readonly description: string
  readonly setup: string
  readonly url: string
  readonly auth: AuthKind
  readonly config: object
  readonly maxInFlight?: number
}

const presetOf = ({ kind, name, description, setup, url, auth, config, maxInFlight }: Of): KindPreset => ({
  id: kind,
  name,
  description,
  setup,
  docs_url: null,
  url,
  secret: null,
  settings: { auth: { kind: auth }, headers: {}, payload_template: null },
  alert_template: null,
  config: JSON.stringify({ kind, ...config }, undefined, 2),
  ...(maxInFlight === undefined ? {} : { maxInFlight }),
})

const KINDS: readonly Of[] = [
  {
    kind: 'postgres',
    name: 'PostgreSQL',
    description: 'One table row per event.',
    setup: 'Create the table first, with a unique index on the ID column.',
    url: 'postgres://{host}:5432/{database}',
    auth: 'basic',
    config: { table: 'events', columns: { id: 'id', dataset: 'dataset', received_at: 'received_at', body: 'body' } },
  },
  {
    kind: 'redis_stream',
    name: 'Redis stream',
    description: 'One stream entry per event.',
    setup: 'Redis creates the stream with the first entry.',
    url: 'rediss://{host}:6379/0',
    auth: 'basic',
    config: { stream: 'events:{dataset}', length_max: null, dedupe_seconds: null },
  },
  {
    kind: 'amqp',
    name: 'RabbitMQ',
    description: 'One persistent, confirmed message per event, over AMQP 0-9-1.',
    setup: 'Bind a queue to the routing key first. If the exchange is empty, the routing key is the queue name.',
    url: 'amqps://{host}:5671/{vhost}',
    auth: 'basic',
    config: { exchange: '', routing_key: 'events' },
  },
  {
    kind: 'nats',
    name: 'NATS JetStream',
    description: 'One message per event, which the stream stores once.',
    setup: 'Create a stream for the subject first.',
    url: 'tls://{host}:4222',
    auth: 'basic',
    config: { subject: 'events.{dataset}', stream: null },
  },
  {
    kind: 'kafka',
    name: 'Kafka',
    description: 'One message per event, stored by all in-sync replicas.',
    setup: 'Create the topic first. Use kafkas:// for TLS. The user needs permission to write to the topic.',
    url: 'kafkas://{host}:9093',
    auth: 'basic',
    config: { topic: 'events', key: '{id}', sasl: 'SCRAM-SHA-512' },
  },
  {
    kind: 'sqs',
    name: 'Amazon SQS',
    description: 'One message per event. A FIFO queue stores each event once.',
    setup: 'Copy the queue URL. The key needs the permission sqs:SendMessage.',
    url: 'https://sqs.{region}.amazonaws.com/{account}/{queue}',
    auth: 'aws',
    config: { region: 'eu-central-1', group: '{dataset}' },
  },
  {
    kind: 'sns',
    name: 'Amazon SNS',
    description: 'One message per event. Subscribers can filter by dataset.',
    setup: 'Copy the topic ARN. The key needs the permission sns:Publish.',
    url: 'https://sns.{region}.amazonaws.com',
    auth: 'aws',
    config: { topic_arn: 'arn:aws:sns:eu-central-1:123456789012:events', group: '{dataset}' },
  },
  {
    kind: 'pubsub',
    name: 'Google Pub/Sub',
    description: 'One message per event, with an ordering key if you need one.',
    setup: 'The service account requires the Pub/Sub Publisher role on the topic.',
    url: 'https://pubsub.googleapis.com',
    auth: 'google',
    config: { topic: 'projects/{project}/topics/{topic}', ordering_key: null },
  },
  {
    kind: 's3',
    name: 'S3',
    description: 'Batches of events as NDJSON or Parquet objects.',
    setup: 'The key needs permission to put objects into the bucket.',
    url: 'https://s3.{region}.amazonaws.com',
    auth: 'aws',
    config: { bucket: 'events', region: 'eu-central-1', prefix: 'events/', format: 'ndjson', linger_ms: 2_000 },
    maxInFlight: 250,
  },
  {
    kind: 'smtp',
    name: 'Email',
    description: 'One email per event, through your mail server.',
    setup: 'Use smtp:// with STARTTLS, or smtps://.',
    url: 'smtps://{host}:465',
    auth: 'basic',
    config: { from: 'events@example.com', to: ['you@example.com'], subject: '{dataset}: {id}' },
  },
  {
    kind: 'postroad',
    name: 'Another Postroad',
    description: 'An endpoint on another Postroad installation, which stores each event once.',
    setup:
      'Copy the endpoint URL. Set the endpoint’s verification scheme to standard_webhooks and use the signing secret of this destination.',
    url: 'https://{host}/{workspace}/{project}/{endpoint}',
    auth: 'none',
    config: {},
  },
]

/** docs/guides/destinations.md explains the settings of each. */
export const KIND_PRESETS: readonly KindPreset[] = KINDS.map(presetOf)
