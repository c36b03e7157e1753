import { bytesOf, textOf } from '#crypto'
import { readNode, readNodes, SEQUENCE, type Node } from './der.ts'

/** The parts of an X.509 certificate (RFC 5280) that the check of a signature needs. */
export type Certificate = {
  readonly spki: Uint8Array
  /** The common names of its subject. */
  readonly names: readonly string[]
  /** In seconds since 1970. */
  readonly validFrom: number
  readonly validTo: number
}

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/
const EXPLICIT_VERSION = 0xa0
const UTC_TIME = 0x17
const COMMON_NAME = '550403'

/** The first certificate of a PEM text; undefined when it has none. */
export function certificateIn(text: string): Certificate | undefined {
  const [, base64 = ''] = PEM.exec(text) ?? []
  return base64 === '' ? undefined : certificateOf(bytesOf(base64.replaceAll(/\s/g, ''), 'base64'))
}

export function spkiOfCertificate(bytes: Uint8Array): Uint8Array | undefined {
  return certificateOf(bytes)?.spki
}

function certificateOf(bytes: Uint8Array): Certificate | undefined {
  const [signed] = readNodes(readNode(bytes)?.bytes ?? EMPTY)
  const fields = readNodes(signed?.bytes ?? EMPTY)
  // After the optional version: serial number, algorithm, issuer, validity, subject, key.
  const [, , , validity, subject, key] = fields[0]?.tag === EXPLICIT_VERSION ? fields.slice(1) : fields
  if (validity === undefined || subject === undefined || key?.tag !== SEQUENCE) return undefined
  const valid = spanOf(validity)
  return valid === undefined ? undefined : { spki: key.whole, names: namesIn(subject), ...valid }
}

function spanOf({ bytes }: Node): Pick<Certificate, 'validFrom' | 'validTo'> | undefined {
  const [from, to] = readNodes(bytes).map(timeOf)
  return from === undefined || to === undefined ? undefined : { validFrom: from, validTo: to }
}

const EMPTY = new Uint8Array()

/** A name is a list of sets of pairs: what it is, and its text. */
function namesIn(subject: Node): readonly string[] {
  return readNodes(subject.bytes)
    .flatMap((set) => readNodes(set.bytes))
    .map((pair) => readNodes(pair.bytes))
    .filter(([kind]) => kind !== undefined && textOf(kind.bytes, 'hex') === COMMON_NAME)
    .map(([, text]) => textOf(text?.bytes ?? new Uint8Array(), 'utf8'))
}

/** UTCTime has two digits of the year, of 1950 to 2049; GeneralizedTime has four. Both are in UTC. */
function timeOf({ tag, bytes }: Node): number | undefined {
  const text = textOf(bytes, 'utf8')
  const digits = tag === UTC_TIME ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const found = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/.exec(digits)
  if (found === null) return undefined
  const [year = 0, month = 0, ...rest] = found.slice(1).map(Number)
  const [day = 0, hour = 0, minute = 0, second = 0] = rest
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1_000
}
