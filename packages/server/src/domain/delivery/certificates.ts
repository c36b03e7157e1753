import { createPrivateKey, X509Certificate } from 'node:crypto'

export type CertificateFacts = { readonly subject: string; readonly issuer: string; readonly expires_at: string }

const BLOCKS = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/** Returns the certificates of a PEM text, or a sentence with the reason why it cannot be read. */
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

/** Facts about saved certificates, which are always readable. */
export function certificateFacts(pem: string): readonly CertificateFacts[] {
  const read = readCertificates(pem)
  return typeof read === 'string' ? [] : read.map(factsOf)
}

/** The reason why these certificates cannot be trusted authorities, or undefined. */
export function validateAuthorities(pem: string, now: number): string | undefined {
  const read = readCertificates(pem)
  if (typeof read === 'string') return read
  return read.map((one) => validateDates(one, now)).find((why) => why !== undefined)
}

/** The reason why this certificate and key cannot be used together, or undefined. The first certificate is the client's own. */
export function validateClientCertificate(of: {
  readonly certificate: string
  readonly privateKey: string
  readonly now: number
}): { readonly member: 'certificate' | 'private_key'; readonly why: string } | undefined {
  const read = readCertificates(of.certificate)
  if (typeof read === 'string') return { member: 'certificate', why: read }
  const [own] = read
  const expired = own === undefined ? undefined : validateDates(own, of.now)
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
      why: locked ? 'has a passphrase; send the key without a passphrase' : 'must be a private key in PEM',
    }
  }
}

function validateDates(certificate: X509Certificate, now: number): string | undefined {
  const ended = certificate.validToDate
  return ended.getTime() <= now ? `has expired (${ended.toISOString()}); send a valid certificate` : undefined
}
