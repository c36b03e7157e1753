import { createPrivateKey, X509Certificate } from 'node:crypto'

export type CertificateFacts = { readonly subject: string; readonly issuer: string; readonly expires_at: string }

const BLOCKS = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** The certificates of a PEM text, or the sentence that says why it cannot be read. */
function readCertificates(pem: string): readonly X509Certificate[] | string {
  const blocks = pem.match(BLOCKS) ?? []
  if (blocks.length === 0) return 'must contain a certificate in PEM (-----BEGIN CERTIFICATE-----)'
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    return 'contains a certificate that cannot be read'
  }
}

const factsOf = (certificate: X509Certificate): CertificateFacts => ({
  subject: oneLine(certificate.subject),
  issuer: oneLine(certificate.issuer),
  expires_at: certificate.validToDate.toISOString(),
})
const oneLine = (name: string): string => name.split('\n').join(', ')

/** Facts of what was saved, so it can be read. */
export function certificateFacts(pem: string): readonly CertificateFacts[] {
  const read = readCertificates(pem)
  return typeof read === 'string' ? [] : read.map(factsOf)
}

/** Why these cannot be trusted authorities, or undefined. */
export function whyAuthoritiesRefused(pem: string, now: number): string | undefined {
  const read = readCertificates(pem)
  if (typeof read === 'string') return read
  return read.map((one) => whyExpired(one, now)).find((why) => why !== undefined)
}

/** Why nobody can be met with this certificate and this key, or undefined; the first certificate is the client's own. */
export function whyClientCertificateRefused(of: {
  readonly certificate: string
  readonly privateKey: string
  readonly now: number
}): { readonly member: 'certificate' | 'private_key'; readonly why: string } | undefined {
  const read = readCertificates(of.certificate)
  if (typeof read === 'string') return { member: 'certificate', why: read }
  const [own] = read
  const expired = own === undefined ? undefined : whyExpired(own, of.now)
  if (expired !== undefined) return { member: 'certificate', why: expired }
  try {
    const key = createPrivateKey(of.privateKey)
    return own?.checkPrivateKey(key) === true
      ? undefined
      : { member: 'private_key', why: 'is not the key of this certificate' }
  } catch (error) {
    const locked = error instanceof Error && 'code' in error && error.code === 'ERR_MISSING_PASSPHRASE'
    return {
      member: 'private_key',
      why: locked ? 'has a passphrase; send it without one' : 'must be a private key in PEM',
    }
  }
}

function whyExpired(certificate: X509Certificate, now: number): string | undefined {
  const ended = certificate.validToDate
  return ended.getTime() <= now ? `has expired (${ended.toISOString()}); send one that is valid` : undefined
}
