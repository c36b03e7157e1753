import { verify, type X509Certificate } from 'node:crypto'

const MODULUS_BITS_MIN = 2_048
const BASE64 = /^[A-Za-z0-9+/]{2,1024}={0,2}$/

type Content = {
  readonly hash: 'sha1' | 'sha256'
  readonly content: string
  /** In base64. */
  readonly signature: string
  readonly nowSeconds: number
}

/** Whether the RSA key of a certificate made a signature, while the certificate is valid. */
export function isSignedByCertificate(
  certificate: X509Certificate,
  { hash, content, signature, nowSeconds }: Content,
): boolean {
  const { publicKey: key, validFromDate, validToDate } = certificate
  const nowMs = nowSeconds * 1_000
  if (nowMs < validFromDate.getTime() || nowMs > validToDate.getTime()) return false
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < MODULUS_BITS_MIN) return false
  return BASE64.test(signature) && verify(hash, Buffer.from(content), key, Buffer.from(signature, 'base64'))
}

/** The text as a URL of one of these hosts, over TLS; undefined when it is not. */
export function urlAt(text: string, hosts: RegExp): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  return hosts.test(url.hostname) ? url : undefined
}
