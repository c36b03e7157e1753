import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { aFolder, aFreePort, runServer, type Broker, type StoredEvent } from './process.ts'

const QUEUE = 'events.fifo'
const ACCOUNT = '000000000000'
const READ_AT_ONCE = 10

/** ELASTICMQ names the class path of ElasticMQ, a server with the API of Amazon SQS: the package org.elasticmq of Maven. */
export const elasticMq = (): string | undefined => process.env['ELASTICMQ']

/** ElasticMQ with a FIFO queue, which it writes to its disk. It checks no signature. */
export async function anElasticMq(classPath: string): Promise<Broker> {
  const [folder, port] = [await aFolder('elasticmq'), await aFreePort()]
  const config = join(folder, 'elasticmq.conf')
  const queue = `http://127.0.0.1:${port}/${ACCOUNT}/${QUEUE}`
  const read: StoredEvent[] = []
  const server = await runServer({
    folder,
    port,
    prepare: () =>
      writeFile(
        config,
        [
          'include classpath("application.conf")',
          `node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }`,
          `rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }`,
          'rest-stats { enabled = false }',
          `messages-storage { enabled = true, driver-class = "org.h2.Driver", uri = "jdbc:h2:${folder}/messages;WRITE_DELAY=0" }`,
          `queues { "${QUEUE}" { fifo = true } }`,
        ].join('\n'),
      ),
    program: () => ({
      file: 'java',
      args: ['-Xmx256m', `-Dconfig.file=${config}`, '-cp', classPath, 'org.elasticmq.server.Main'],
    }),
    ready: () => asked(queue, 'GetQueueAttributes', { AttributeNames: ['All'] }),
  })
  return {
    ...server,
    name: 'sqs',
    members: {
      url: queue,
      config: { kind: 'sqs', region: 'elasticmq', group: '{id}' },
      auth: { kind: 'aws', access_key_id: 'app', secret_access_key: 'any-secret' },
    },
    stored: () => moveMessages(queue, read),
  }
}

type Received = {
  readonly Messages?: readonly {
    readonly ReceiptHandle: string
    readonly Body: string
    readonly MessageAttributes: Readonly<Record<string, { readonly StringValue: string }>>
  }[]
}

/** Moves the messages of the queue to `read`, because a queue with thousands of hidden messages answers too late. */
async function moveMessages(queue: string, read: StoredEvent[]): Promise<readonly StoredEvent[]> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one page after the other
    const { Messages = [] } = await asked<Received>(queue, 'ReceiveMessage', {
      MaxNumberOfMessages: READ_AT_ONCE,
      MessageAttributeNames: ['All'],
    })
    if (Messages.length === 0) return read
    read.push(
      ...Messages.map(({ Body, MessageAttributes }) => ({
        id: MessageAttributes['id']?.StringValue ?? '',
        body: Body,
      })),
    )
    // oxlint-disable-next-line no-await-in-loop -- as above
    await asked(queue, 'DeleteMessageBatch', {
      Entries: Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
    })
  }
}

// oxlint-disable-next-line max-params -- the queue, the action and its parameters
async function asked<T>(queue: string, action: string, members: object): Promise<T> {
  const response = await fetch(new URL('/', queue), {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `AmazonSQS.${action}` },
    body: JSON.stringify({ QueueUrl: queue, ...members }),
  })
  if (!response.ok) throw new Error(await response.text())
  const text = await response.text()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of the action
  return (text === '' ? {} : JSON.parse(text)) as T
}
