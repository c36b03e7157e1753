import { createTransport } from 'nodemailer'
import { LIMITS } from '@postroad/contract'
import { codeOf, LinkFailure, linkFailure, noAccess, refusedBy, saidBy, tooLarge } from './failure.ts'
import { filledName } from './names.ts'
import type { LinkMessage, LinkSettings, OpenLink } from './types.ts'

type Settings = LinkSettings<'smtp'>

const CONNECTIONS_MAX = 5
const REPLIES = { maxResponseSize: 65_536 }

/** An email for each event, accepted by the server of the destination. Its Message-ID contains the id of the event. */
export const openSmtp: OpenLink<'smtp'> = async ({ config, ...settings }) => {
  const transport = transportTo(settings, config)
  let broken = false
  const close = (): void => {
    broken = true
    transport.close()
  }
  try {
    await transport.verify()
  } catch (error) {
    close()
    throw failureOf(error, undefined)
  }
  return {
    isBroken: () => broken,
    close,
    send: async (message) => {
      try {
        return await sendTo(transport, settings, { config, message })
      } catch (error) {
        // The next event looks the host up again.
        if (/^E(CONNECTION|SOCKET|TIMEDOUT|DNS|TLS|AUTH)$/.test(codeOf(error))) broken = true
        throw failureOf(error, message)
      }
    },
  }
}

/** The client encrypts by itself after STARTTLS, and limits the length of a reply. */
function transportTo(
  { maxInFlight, openSocket, place, tlsOptions }: Omit<Settings, 'config'>,
  config: Settings['config'],
) {
  const isImplicit = place.protocol === 'smtps:'
  return createTransport({
    pool: true,
    maxConnections: Math.min(maxInFlight, CONNECTIONS_MAX),
    host: place.host,
    port: place.port,
    getSocket: (_options: unknown, given: (error: Error | null, socket?: object) => void) => {
      openSocket({ opening: isImplicit ? 'tls' : null }).then(
        (connection) => given(null, { connection, secured: isImplicit }),
        (error: Error) => given(error),
      )
    },
    secure: isImplicit,
    requireTLS: place.isEncrypted && !isImplicit,
    ignoreTLS: !place.isEncrypted,
    tls: tlsOptions(),
    ...(place.user === null ? {} : { auth: { user: place.user.name, pass: place.user.password } }),
    name: domainOf(config.from),
    connectionTimeout: LIMITS.deliveryConnectMs,
    greetingTimeout: LIMITS.deliveryConnectMs,
    ...REPLIES,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

type Email = { readonly config: Settings['config']; readonly message: LinkMessage }
type Transport = ReturnType<typeof transportTo>

/**
 * Sends the email to everyone who does not have it. If the server defers some recipients and accepts others, the attempt fails,
 * and this process sends the next one only to the deferred ones. A process that does not remember them sends to all.
 */
// oxlint-disable-next-line max-params -- the connection, its settings, and the email
async function sendTo(
  transport: Transport,
  { scope, remaining }: Pick<Settings, 'scope' | 'remaining'>,
  { config, message }: Email,
): Promise<string> {
  const event = `${scope} ${message.id}`
  const left = remaining.get(event)
  const to = [...(left ?? config.to)]
  const envelope = left === undefined ? {} : { envelope: { from: config.from, to } }
  try {
    const sent = await transport.sendMail({ ...mailOf(config, message), ...envelope })
    const deferred = deferredBy(sent)
    remaining.set(event, [...deferred.keys()])
    if (deferred.size > 0) throw deferral(deferred, to.length)
    return sent.rejected.length === 0 ? sent.response : `${sent.response}; ${refusedText(sent.rejected.length)}`
  } catch (error) {
    // The other recipients have the email, and these will never accept it.
    if (left === undefined || rejectedBy(error).length < to.length || deferredBy(error).size > 0) throw error
    remaining.set(event, [])
    return `${saidBy(error)}; ${refusedText(to.length)}`
  }
}

const refusedText = (count: number): string => `${count} ${count === 1 ? 'recipient was' : 'recipients were'} refused`

/** The refusals of single recipients, each with the response of the server. */
function rejectedBy(answer: unknown): readonly unknown[] {
  const rejected: unknown = isRecord(answer) ? answer['rejectedErrors'] : undefined
  return Array.isArray(rejected) ? rejected : []
}

/** The recipients that the server refused for now. */
function deferredBy(answer: unknown): ReadonlyMap<string, unknown> {
  const deferred = new Map<string, unknown>()
  for (const one of rejectedBy(answer))
    if (isRecord(one) && typeof one['recipient'] === 'string' && Number(one['responseCode']) < 500)
      deferred.set(one['recipient'], one)
  return deferred
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const deferral = (deferred: ReadonlyMap<string, unknown>, count: number): LinkFailure =>
  refusedBy(
    deferred.values().next().value,
    `The mail server deferred ${deferred.size} of ${count} recipients. Postroad sends the email again to these only.`,
  )

const domainOf = (address: string): string => address.split('@').at(-1) ?? 'localhost'

function mailOf(config: Settings['config'], message: LinkMessage) {
  return {
    from: { name: '', address: config.from },
    to: config.to.map((address) => ({ name: '', address })),
    subject: filledName(config.subject, message),
    text: message.body,
    date: message.receivedAt,
    messageId: `<${message.id}@${domainOf(config.from)}>`,
    headers: { 'Auto-Submitted': 'auto-generated', 'Service-Event-Id': message.id, 'Service-Dataset': message.dataset },
  }
}

/**
 * 552 and 5.3.4 say that the email is too large, and 5.2.3 that it is too large for this mailbox. 552 5.2.2 is a full mailbox,
 * which has room again later.
 */
function isTooLarge(error: unknown, status: number): boolean {
  const [code] = /\b5\.[23]\.[234]\b/.exec(error instanceof Error ? error.message : '') ?? []
  return code === '5.3.4' || code === '5.2.3' || (status === 552 && code !== '5.2.2')
}

/** The failure shows the words of the server after our sentence. */
function failureOf(error: unknown, message: LinkMessage | undefined): LinkFailure {
  if (error instanceof LinkFailure) return error
  const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
  if (message !== undefined && isTooLarge(error, status)) return tooLarge(Buffer.byteLength(message.body), undefined)
  if (codeOf(error) === 'EAUTH' || status === 530) return noAccess(error)
  // A server that refuses STARTTLS does not refuse the email.
  if (status < 400 || codeOf(error) === 'ETLS') return brokenBy(error)
  return refusedBy(error, 'The mail server refused the email.')
}

/** The failures of a connection. */
function brokenBy(error: unknown): LinkFailure {
  const code = codeOf(error)
  if (code === 'ETLS')
    return new LinkFailure(
      'tls_failed',
      'The server does not offer trusted encryption. Set tls.ca or config.encryption.',
    )
  if (code === 'EPROTOCOL') return notMail(error)
  if (code === 'ETIMEDOUT') return new LinkFailure('timeout', 'The mail server did not respond in time.')
  return linkFailure(asOfSocket(error))
}

const notMail = (error: unknown): LinkFailure =>
  /maximum allowed size/.test(saidBy(error))
    ? new LinkFailure(
        'response_too_large',
        `The server sent more than ${REPLIES.maxResponseSize} bytes in one reply. Check that it is a mail server.`,
      )
    : refusedBy(error, 'The server does not reply as a mail server does.')

/** The driver replaces the code of the socket with its own, and stores the first code beside it. */
function asOfSocket(error: unknown): unknown {
  if (!(error instanceof Error) || !('originalCode' in error)) return error
  return Object.assign(new Error(error.message), { code: error.originalCode })
}
