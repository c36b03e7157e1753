import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { aCloud, type Answer, type Asked, type Cloud } from '../../chaos/brokers/cloud.ts'

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
