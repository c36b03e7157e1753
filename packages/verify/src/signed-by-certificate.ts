import { bytesOf, isSigned } from '#crypto'
import { certificateIn as readCertificate, type Certificate } from './certificate.ts'
import type { PublicKey } from './crypto.ts'
import { isStrong, keyOf } from './public-keys.ts'

const BASE64 = /^[A-Za-z0-9+/]{2,1024}={0,2}$/

type Content = {
  readonly hash: 'sha1' | 'sha256'
  readonly content: string
  /** In base64. */
  readonly signature: string
  readonly nowSeconds: number
}

type Known = Certificate & { readonly key: PublicKey | undefined }
const CERTIFICATES_MAX = 100
const certificates = new Map<string, Known | undefined>()

/** The certificate of a fetched text. A provider signs with few of them, so each is read once. */
export function certificateIn(text: string | undefined): Known | undefined {
  if (text === undefined || certificates.has(text)) return text === undefined ? undefined : certificates.get(text)
  const read = readCertificate(text)
  const known = read === undefined ? undefined : { ...read, key: keyOf(read.spki) }
  if (certificates.size >= CERTIFICATES_MAX) certificates.clear()
  certificates.set(text, known)
  return known
}

/** Whether the RSA key of a certificate made a signature, while the certificate is valid. */
export function isSignedByCertificate(
  { key, validFrom, validTo }: Known,
  { hash, content, signature, nowSeconds }: Content,
): boolean {
  if (nowSeconds < validFrom || nowSeconds > validTo) return false
  if (key?.kind !== 'rsa' || !isStrong(key) || !BASE64.test(signature)) return false
  return isSigned(key, { hash, content: bytesOf(content, 'utf8'), signature: bytesOf(signature, 'base64') })
}

/** The text as a URL of one of these hosts, over TLS; undefined when it is not. */
export function urlAt(text: string, hosts: RegExp): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  return hosts.test(url.hostname) ? url : undefined
}
