import { createHash, createHmac, createPublicKey, generateKeyPairSync, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jwtVerify } from 'jose'
import type { Broker, StoredEvent } from '../../chaos/brokers/process.ts'

/** Local servers that speak the protocols of cloud services, which nobody can install. */

export type Asked = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
type Answer = { readonly status: number; readonly body: string; readonly type?: string }

export type Cloud = Broker & {
  /** All requests that the server has received. */
  readonly asked: Asked[]
  /** The answer to all further requests; undefined: the answer of the service. */
  answers: Answer | undefined
}

type Made = {
  readonly name: string
  readonly members: (at: string) => Broker['members']
  readonly answer: (asked: Asked, events: StoredEvent[]) => Answer | Promise<Answer>
}

/** Events survive a kill, as they do in the service. */
export async function aCloud({ name, members, answer }: Made): Promise<Cloud> {
  const events: StoredEvent[] = []
  const asked: Asked[] = []
  let server: Server | undefined
  let port = 0
  const respond = async (one: Asked): Promise<Answer> => {
    asked.push(one)
    return cloud.answers ?? answer(one, events)
  }
  const start = async (): Promise<void> => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method = '', url = '', headers } = request
        void respond({ method, path: url, headers, body: Buffer.concat(chunks).toString() }).then((given) => {
          response.writeHead(given.status, { 'content-type': given.type ?? 'application/json' }).end(given.body)
        })
      })
    }).listen(port, '127.0.0.1')
    await new Promise((resolve) => server?.once('listening', resolve))
    port = (server.address() as AddressInfo).port
  }
  const kill = async (): Promise<void> => {
    const closed = new Promise((resolve) => server?.close(resolve))
    server?.closeAllConnections()
    await closed
  }
  await start()
  const cloud: Cloud = {
    name,
    members: members(`http://127.0.0.1:${port}`),
    kill,
    start,
    stop: kill,
    stored: () => Promise.resolve(events),
    asked,
    answers: undefined,
  }
  return cloud
}

export const ACCESS_KEY = 'AKIDEXAMPLE'
const SECRET_KEY = 'cloud-secret-key'
export const AWS_AUTH = { kind: 'aws', access_key_id: ACCESS_KEY, secret_access_key: SECRET_KEY }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Whether the request has the signature of version 4 of the key, for this region and service. */
export function isSigned({ method, path, headers, body }: Asked, scope: { region: string; service: string }): boolean {
  const time = String(headers['x-amz-date'])
  const [day] = time.split('T')
  const within = `${day}/${scope.region}/${scope.service}/aws4_request`
  const start = `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/${within}, SignedHeaders=`
  const { authorization = '' } = headers
  const [names = '', signature = ''] = authorization.slice(start.length).split(', Signature=')
  if (!authorization.startsWith(start)) return false
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`)
  const canonical = [method, path, '', lines.join(''), names, sha256(body)].join('\n')
  const made = hmac(hmac(hmac(hmac(`AWS4${SECRET_KEY}`, day ?? ''), scope.region), scope.service), 'aws4_request')
  const wanted = hmac(made, ['AWS4-HMAC-SHA256', time, within, sha256(canonical)].join('\n'))
  const given = Buffer.from(signature, 'hex')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

const QUEUE_BYTES_MAX = 1_048_576
const TOPIC_BYTES_MAX = 262_144

type Attributes = Readonly<Record<string, { readonly StringValue: string }>>
type Message = {
  readonly QueueUrl: string
  readonly MessageBody: string
  readonly MessageAttributes: Attributes
  readonly MessageGroupId?: string
  readonly MessageDeduplicationId?: string
}

const queueFault = (status: number, __type: string, message: string): Answer => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.sqs#${__type}`, message }),
})

/** Amazon SQS with one FIFO queue, by its JSON protocol. */
export function anSqs(): Promise<Cloud> {
  const seen = new Set<string>()
  return aCloud({
    name: 'sqs',
    members: (at) => ({
      url: `${at}/123456789012/events.fifo`,
      config: { kind: 'sqs', region: 'eu-central-1' },
      auth: AWS_AUTH,
    }),
    answer: (asked, events) => {
      if (!isSigned(asked, { region: 'eu-central-1', service: 'sqs' }))
        return queueFault(403, 'InvalidSignatureException', 'The request signature we calculated does not match.')
      if (asked.path !== '/' || asked.headers['x-amz-target'] !== 'AmazonSQS.SendMessage')
        return queueFault(400, 'UnsupportedOperation', 'Not an action of this server.')
      const sent = JSON.parse(asked.body) as Message
      const { MessageBody, MessageAttributes, MessageGroupId, MessageDeduplicationId = '' } = sent
      if (!sent.QueueUrl.endsWith('/123456789012/events.fifo'))
        return queueFault(400, 'QueueDoesNotExist', 'The specified queue does not exist.')
      if (MessageGroupId === undefined) return queueFault(400, 'MissingParameter', 'MessageGroupId is missing.')
      if (bytesOf(MessageBody, MessageAttributes) > QUEUE_BYTES_MAX)
        return queueFault(
          400,
          'InvalidParameterValue',
          `One or more parameters are invalid. Reason: Message must be shorter than ${QUEUE_BYTES_MAX} bytes.`,
        )
      if (!seen.has(MessageDeduplicationId))
        events.push({ id: MessageAttributes['id']?.StringValue ?? '', body: MessageBody })
      seen.add(MessageDeduplicationId)
      return { status: 200, body: JSON.stringify({ MessageId: 'm-1', SequenceNumber: String(events.length) }) }
    },
  })
}

const bytesOf = (body: string, attributes: Attributes): number =>
  Object.entries(attributes).reduce(
    (sum, [name, { StringValue }]) => sum + Buffer.byteLength(`${name}String${StringValue}`),
    Buffer.byteLength(body),
  )

const xml = (status: number, body: string): Answer => ({ status, body, type: 'text/xml' })
const topicFault = (status: number, code: string, message: string): Answer =>
  xml(
    status,
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
  )
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:events'

/** Amazon SNS with one topic, by its query protocol. */
export function anSns(): Promise<Cloud> {
  return aCloud({
    name: 'sns',
    members: (at) => ({ url: at, config: { kind: 'sns', topic_arn: TOPIC }, auth: AWS_AUTH }),
    answer: (asked, events) => {
      if (!isSigned(asked, { region: 'eu-central-1', service: 'sns' }))
        return topicFault(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.')
      const form = new URLSearchParams(asked.body)
      const message = form.get('Message') ?? ''
      if (form.get('Action') !== 'Publish') return topicFault(400, 'InvalidAction', 'Not an action of this server.')
      if (form.get('TopicArn') !== TOPIC) return topicFault(404, 'NotFound', 'Topic does not exist')
      if (Buffer.byteLength(message) > TOPIC_BYTES_MAX)
        return topicFault(400, 'InvalidParameter', 'Invalid parameter: Message too long')
      events.push({ id: form.get('MessageAttributes.entry.1.Value.StringValue') ?? '', body: message })
      return xml(200, '<PublishResponse><PublishResult><MessageId>m-1</MessageId></PublishResult></PublishResponse>')
    },
  })
}

const ACCOUNT = 'postroad@acme.iam.gserviceaccount.com'
export const PUBSUB_TOPIC = 'projects/acme/topics/events'

export const aServiceAccountKey = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

/** Google Pub/Sub with one topic, by its REST API. It verifies the tokens of one service account. */
export function aPubsub(): Promise<Cloud> {
  const { publicKey, privateKey } = aServiceAccountKey()
  const verified = ({ headers: { authorization = '' } }: Asked): Promise<boolean> =>
    jwtVerify(authorization.replace('Bearer ', ''), createPublicKey(publicKey), {
      issuer: ACCOUNT,
      subject: ACCOUNT,
      audience: 'https://pubsub.googleapis.com/',
      maxTokenAge: '1h',
    }).then(
      () => true,
      () => false,
    )
  return aCloud({
    name: 'pubsub',
    members: (at) => ({
      url: at,
      config: { kind: 'pubsub', topic: PUBSUB_TOPIC },
      auth: { kind: 'google', client_email: ACCOUNT, private_key: privateKey },
    }),
    answer: async (asked, events) => {
      if (!(await verified(asked))) return pubsubFault(401, 'UNAUTHENTICATED', 'Invalid authentication credentials.')
      if (asked.path !== `/v1/${PUBSUB_TOPIC}:publish`)
        return pubsubFault(404, 'NOT_FOUND', 'Resource not found (resource=other).')
      const { messages } = JSON.parse(asked.body) as {
        messages: { data: string; attributes: Record<string, string> }[]
      }
      const [{ data, attributes } = { data: '', attributes: {} }] = messages
      events.push({ id: attributes['webhook-id'] ?? '', body: Buffer.from(data, 'base64').toString() })
      return { status: 200, body: JSON.stringify({ messageIds: ['4711'] }) }
    },
  })
}

const pubsubFault = (code: number, status: string, message: string): Answer => ({
  status: code,
  body: JSON.stringify({ error: { code, message, status } }),
})
