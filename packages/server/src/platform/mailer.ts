import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MailMode } from '@postroad/contract'
import type * as Nodemailer from 'nodemailer'
import type { SendMailOptions, Transporter } from 'nodemailer'
import type { Log } from './log.ts'
import type { Secret } from './secret.ts'

/** An email to one person. `id` is a UUID and becomes the Message-ID, so that an email that is sent twice shows as one. */
export type Mail = {
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** `send` resolves when the mail server has accepted the email, or the file is written; otherwise it rejects with the error. */
export type Mailer = { readonly kind: MailMode; send(mail: Mail): Promise<void>; close(): void }

const CONNECT_MS = 10_000
const ANSWER_MS = 30_000

/** Sends by SMTP if there is a URL for it. Otherwise writes one file per email into the folder `outbox` of the data folder. */
export function createMailer(of: { smtpUrl: Secret | undefined; from: string; outboxDir: string; log: Log }): Mailer {
  const { smtpUrl, from, outboxDir, log } = of
  if (smtpUrl === undefined) return createOutbox({ from, folder: outboxDir, log })
  const transport = atFirstUse(({ createTransport }) =>
    createTransport({
      url: smtpUrl.reveal(),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: ANSWER_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    }),
  )
  return {
    kind: 'smtp',
    send: async (mail) => {
      await (await transport.made()).sendMail(messageOf(mail, from))
    },
    close: () => transport.close(),
  }
}

/** The library is loaded for the first email. Most servers send none for a long time after the start. */
function atFirstUse<T extends { close(): void }>(
  make: (library: typeof Nodemailer) => T,
): { made(): Promise<T>; close(): void } {
  let making: Promise<T> | undefined
  return {
    made: () => (making ??= import('nodemailer').then(make)),
    close: () =>
      void making?.then(
        (made) => made.close(),
        () => undefined,
      ),
  }
}

function createOutbox({ from, folder, log }: { from: string; folder: string; log: Log }): Mailer {
  const transport = atFirstUse(({ createTransport }): Transporter<{ message: Buffer | NodeJS.ReadableStream }> =>
    createTransport({ streamTransport: true, buffer: true, newline: 'windows' }),
  )
  return {
    kind: 'outbox',
    send: async (mail) => {
      const { message } = await (
        await transport.made()
      ).sendMail({
        ...messageOf(mail, from),
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, `${mail.id}.eml`)
      if (!Buffer.isBuffer(message)) throw new Error('The email was not built in one piece.')
      await writeFile(`${path}.part`, message, { mode: 0o600 })
      await rename(`${path}.part`, path)
      log.warn('mail.written_to_outbox', {
        file: path,
        meaning: 'No mail server is configured. Give this file to its recipient, or set SMTP_URL.',
      })
    },
    close: () => transport.close(),
  }
}

function messageOf({ id, to, subject, text, html }: Mail, from: string): SendMailOptions {
  const domain = /@([^@>\s]+)>?$/.exec(from)?.[1] ?? 'localhost'
  // An address object is used as it is; a text would be parsed as a list of addresses.
  return {
    from,
    to: { name: '', address: to },
    subject,
    text,
    html,
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}
