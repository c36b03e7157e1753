import { chmodSync, chownSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { aFolder, aFreePort, runServer } from '../../chaos/brokers/process.ts'

const PROGRAM = '/usr/sbin/smtpd'
const NOBODY = 65_534

/** The reason why tests with OpenSMTPD cannot run here; false when they can. */
export const noOpenSmtpd: string | false = !existsSync(PROGRAM)
  ? `${PROGRAM} is not installed: install the package opensmtpd to test emails with a server that people run`
  : process.getuid?.() !== 0 && `${PROGRAM} runs only as root: run the tests as root to test emails with it`

export type OpenSmtpd = {
  readonly url: string
  /** All emails in the mailbox of ada@example.com, as the server stored them. */
  readonly mails: () => readonly string[]
  readonly stop: () => Promise<void>
}

/** OpenSMTPD, which stores the emails to ada@example.com in a mailbox. Its TLS does not work with OpenSSL 3, so it has none. */
export async function anOpenSmtpd(): Promise<OpenSmtpd> {
  const [folder, port] = [await aFolder('smtpd'), await aFreePort()]
  const [config, mailbox] = [join(folder, 'smtpd.conf'), join(folder, 'mailbox')]
  const { stop } = await runServer({
    folder,
    port,
    prepare: () => {
      // It does not write to a mailbox as root.
      chmodSync(folder, 0o711)
      mkdirSync(mailbox)
      chownSync(mailbox, NOBODY, NOBODY)
      const lines = [
        `listen on 127.0.0.1 port ${port} hostname localhost`,
        'table people { "ada@example.com" = "nobody" }',
        `action "store" maildir "${mailbox}" virtual <people>`,
        'match from local for domain "example.com" action "store"',
      ]
      writeFileSync(config, `${lines.join('\n')}\n`, { mode: 0o600 })
      return Promise.resolve()
    },
    // Its queue and its socket have fixed paths, so it sees empty folders there.
    program: () => ({
      file: 'unshare',
      args: [
        '--mount',
        'sh',
        '-c',
        `${EMPTY.map((path) => `mount -t tmpfs tmpfs ${path} && `).join('')}${RUN}`,
        config,
      ],
    }),
    ready: () => isOpen(port),
  })
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails: () => globSync(join(mailbox, 'new', '*')).map((path) => readFileSync(path, 'utf8')),
    stop,
  }
}

const EMPTY = ['/var/spool', '/run']
const RUN = `exec ${PROGRAM} -d -f "$0"`

function isOpen(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve()
    }).on('error', reject)
  })
}
