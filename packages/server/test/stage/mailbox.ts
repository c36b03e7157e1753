import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { World } from './harness.ts'

export type Email = {
  readonly raw: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The content of an email as the server writes it: two parts, text and HTML. */
export function readEmail(raw: string): Email {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? ''
  const parts = raw.split(`--${boundary}`)
  const header = (name: string): string =>
    new RegExp(`^${name}: (.*(?:\r\n[ \t].*)*)`, 'im').exec(raw)?.[1]?.replaceAll(/\r\n\s+/g, ' ') ?? ''
  const part = (type: string): string => decoded(parts.find((one) => one.includes(`Content-Type: ${type}`)) ?? '')
  return { raw, to: header('To'), subject: header('Subject'), text: part('text/plain'), html: part('text/html') }
}

function decoded(part: string): string {
  const body = part.slice(part.indexOf('\r\n\r\n') + 4)
  if (/transfer-encoding: base64/i.test(part)) return Buffer.from(body, 'base64').toString()
  if (!/transfer-encoding: quoted-printable/i.test(part)) return body
  return Buffer.from(
    body
      .replaceAll(/=\r\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()
}

/** The first link in an email, with the part after its "#". */
export function linkIn({ text }: Email): { readonly url: URL; readonly token: string; readonly next: string | null } {
  const url = new URL(/https?:\/\/\S+/.exec(text)?.[0] ?? '')
  const fragment = new URLSearchParams(url.hash.slice(1))
  return { url, token: fragment.get('t') ?? '', next: fragment.get('next') }
}

/** A data folder with an outbox in it. */
export class Mailbox {
  readonly folder: string
  readonly #read = new Set<string>()

  constructor(folder: string) {
    this.folder = folder
  }

  static async open(): Promise<Mailbox> {
    return new Mailbox(await mkdtemp(join(tmpdir(), 'postroad-mail-')))
  }

  /** Runs the mail sender, and returns the next email that nobody has read. */
  async next(world: World): Promise<Email> {
    world.clock.advance(1_000)
    await world.run('mail.send')
    const [name] = await this.unread()
    if (name === undefined) throw new Error('No email that nobody has read is in the outbox.')
    this.#read.add(name)
    return readEmail(await readFile(join(this.folder, 'outbox', name), 'utf8'))
  }

  async unread(): Promise<readonly string[]> {
    const names = await readdir(join(this.folder, 'outbox')).catch(() => [])
    return names.filter((name) => name.endsWith('.eml') && !this.#read.has(name)).toSorted()
  }

  async modes(): Promise<readonly string[]> {
    const outbox = join(this.folder, 'outbox')
    const paths = [outbox, ...(await readdir(outbox)).map((name) => join(outbox, name))]
    return Promise.all(paths.map(async (path) => ((await stat(path)).mode & 0o777).toString(8)))
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }
}
