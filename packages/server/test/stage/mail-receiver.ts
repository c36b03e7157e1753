import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type ReceivedMail = { readonly from: string; readonly to: readonly string[]; readonly raw: string }
/** `answer`: undefined accepts the email; otherwise the status of the refusal, with the text of `words`. */
export type MailReceiver = {
  readonly port: number
  readonly received: ReceivedMail[]
  answer: number | undefined
  words: string
  stop(): Promise<void>
}

export const MAIL_PASSWORD = 'mail-password'

/** A mail server that accepts emails of the user `app`. */
export async function aMailReceiver(options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const received: ReceivedMail[] = []
  const state: { answer: number | undefined; words: string } = { answer: undefined, words: 'Not this one' }
  const server = new SMTPServer({
    allowInsecureAuth: true,
    // A machine without a name server would wait half a minute for the name of each client.
    disableReverseLookup: true,
    // Connections of the pool are idle, so nothing is lost when they end immediately.
    closeTimeout: 100,
    disabledCommands: ['STARTTLS'],
    ...options,
    onAuth: ({ username, password }, _session, done) =>
      username === 'app' && password === MAIL_PASSWORD
        ? done(null, { user: username })
        : done(Object.assign(new Error(`Who is that with ${password}?`), { responseCode: 535 })),
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        if (state.answer !== undefined)
          return done(Object.assign(new Error(state.words), { responseCode: state.answer }))
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString(),
        })
        return done()
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return Object.assign(state, {
    port,
    received,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  })
}
