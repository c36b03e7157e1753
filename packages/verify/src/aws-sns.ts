import { textOf } from '#crypto'
import { certificateIn, isSignedByCertificate, urlAt } from './signed-by-certificate.ts'
import { malformed, missing, type Reading, type Signed, type SignatureFailure } from './reading.ts'

/** The hosts of Amazon SNS, by region. Anyone could own `sns.s3.amazonaws.com` or `sns.s3-us-west-2.amazonaws.com`. */
const HOSTS = /^sns\.[a-z]{2}(?:-[a-z]+)+-\d\.amazonaws\.com(?:\.cn)?$/
/** Every message carries its type in this header; the signature is in the body. */
const HEADER = 'x-amz-sns-message-type'
const FORM = 'of Amazon SNS, with a signed JSON message'
const HASHES = { '1': 'sha1', '2': 'sha256' } as const

/** The signed members in their order. An absent member is left out. */
const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const

type Message = Readonly<Record<string, unknown>>

/**
 * A message of Amazon SNS, signed with a certificate of SNS. Anyone can have a topic, so the secret is the ARN of the
 * topic, and a message of another topic is refused.
 */
export function readAwsSns(headers: Signed['headers'], fetched: string | undefined): Reading {
  const value = headers[HEADER]
  return {
    header: HEADER,
    form: FORM,
    value,
    given: value === undefined ? [] : [value],
    before: '',
    recipe: {
      prefix: '',
      algorithm: 'sha256',
      encoding: 'base64',
      mismatch: 'The message is from another topic, or the certificate of Amazon SNS did not sign it.',
      accepts: (topic, { body, nowSeconds }) => {
        const message = messageIn(body)
        const certificate = certificateIn(fetched)
        if (message === undefined || message['TopicArn'] !== topic || certificate === undefined) return false
        return isSigned(message, certificate, nowSeconds)
      },
    },
    time: undefined,
    failure: value === undefined ? missing(HEADER) : undefined,
  }
}

function isSigned(
  message: Message,
  certificate: NonNullable<ReturnType<typeof certificateIn>>,
  nowSeconds: number,
): boolean {
  const { Signature: signature, SignatureVersion: version, Type: type } = message
  if (typeof signature !== 'string' || (version !== '1' && version !== '2')) return false
  if (type !== 'Notification' && type !== 'SubscriptionConfirmation' && type !== 'UnsubscribeConfirmation') return false
  const members = SIGNED[type].filter((name) => typeof message[name] === 'string')
  const content = members.map((name) => `${name}\n${String(message[name])}\n`).join('')
  return isSignedByCertificate(certificate, { hash: HASHES[version], content, signature, nowSeconds })
}

/** The URL of the certificate of a message. A message of another topic is not worth a request. */
export function certificateUrlOfSns({
  headers,
  body,
  secrets,
}: Pick<Signed, 'headers' | 'body' | 'secrets'>): string | SignatureFailure | undefined {
  if (headers[HEADER] === undefined) return missing(HEADER)
  const message = messageIn(body)
  const { TopicArn: topic, SigningCertURL: url } = message ?? {}
  if (typeof topic !== 'string' || typeof url !== 'string') return malformed(HEADER, FORM)
  if (!secrets.includes(topic)) return undefined
  const found = urlAt(url, HOSTS)
  return found?.pathname.endsWith('.pem') === true
    ? found.href
    : malformed(HEADER, `${FORM} and a SigningCertURL of SNS`)
}

/** The URL that confirms a subscription, if a verified message asks for it. */
export function subscribeUrlOf(payload: unknown): string | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const { Type: type, SubscribeURL: url }: { Type?: unknown; SubscribeURL?: unknown } = payload
  if (type !== 'SubscriptionConfirmation' || typeof url !== 'string') return undefined
  return urlAt(url, HOSTS)?.href
}

function messageIn(body: Uint8Array): Message | undefined {
  try {
    const message: unknown = JSON.parse(textOf(body, 'utf8'))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object has members of any type
    return typeof message === 'object' && message !== null ? (message as Message) : undefined
  } catch {
    return undefined
  }
}
