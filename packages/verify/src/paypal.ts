import { crc32 } from './crc32.ts'
import { certificateIn, isSignedByCertificate, urlAt } from './signed-by-certificate.ts'
import { malformed, missing, type Reading, type Signed, type SignatureFailure } from './reading.ts'

const HOSTS = /^api(?:\.sandbox)?\.paypal\.com$/
/** This folder has only certificates, and nothing that others can store at PayPal. */
const FOLDER = '/v1/notifications/certs/'
const SIGNATURE = 'PayPal-Transmission-Sig'
const ID = 'PayPal-Transmission-Id'
const TIME = 'PayPal-Transmission-Time'
const ALGORITHM = 'PayPal-Auth-Algo'
const CERTIFICATE = 'PayPal-Cert-Url'
const HEADERS = [SIGNATURE, ID, TIME, ALGORITHM, CERTIFICATE] as const

/** The name that PayPal's certificates are issued for. */
const ISSUED_FOR = /^(?:[a-z0-9-]+\.)+paypal\.com$/i

/**
 * A webhook of PayPal: RSA over the id and the time of the transmission, the ID of the webhook and the CRC-32 of the body. The
 * secret is the ID of the webhook, so an event for another webhook is refused.
 */
export function readPayPal(headers: Signed['headers'], fetched: string | undefined): Reading {
  const value = headers[SIGNATURE.toLowerCase()]
  const before = `${headers[ID.toLowerCase()] ?? ''}|${headers[TIME.toLowerCase()] ?? ''}|`
  return {
    header: SIGNATURE,
    form: '<base64>',
    value,
    given: value === undefined ? [] : [value],
    before,
    recipe: {
      prefix: '',
      algorithm: 'sha256',
      encoding: 'base64',
      mismatch: 'The signature does not match the certificate of PayPal, this body and the ID of the webhook.',
      accepts: (webhookId, { body, nowSeconds }) => {
        const certificate = certificateIn(fetched)
        if (certificate === undefined || value === undefined) return false
        const content = `${before}${webhookId}|${crc32(body)}`
        return (
          certificate.names.some((name) => ISSUED_FOR.test(name)) &&
          isSignedByCertificate(certificate, { hash: 'sha256', content, signature: value, nowSeconds })
        )
      },
    },
    time: undefined,
    failure: failureIn(headers),
  }
}

/** The only algorithm that PayPal names today; another one would be an attempt to weaken the check. */
function failureIn(headers: Signed['headers']): SignatureFailure | undefined {
  const absent = HEADERS.find((name) => headers[name.toLowerCase()] === undefined)
  if (absent !== undefined) return missing(absent)
  if (headers[ALGORITHM.toLowerCase()] !== 'SHA256withRSA') return malformed(ALGORITHM, 'SHA256withRSA')
  // A bar would move the border between the signed parts.
  const barred = [ID, TIME].find((name) => headers[name.toLowerCase()]?.includes('|') === true)
  return barred === undefined ? undefined : malformed(barred, 'of PayPal, without |')
}

export function certificateUrlOfPayPal({ headers }: Pick<Signed, 'headers'>): string | SignatureFailure {
  const failure = failureIn(headers)
  if (failure !== undefined) return failure
  const url = urlAt(headers[CERTIFICATE.toLowerCase()] ?? '', HOSTS)
  return url?.pathname.startsWith(FOLDER) === true
    ? url.href
    : malformed(CERTIFICATE, `https://api.paypal.com${FOLDER}…`)
}
