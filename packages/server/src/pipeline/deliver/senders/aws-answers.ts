import type { Answer } from './calls.ts'

export type AwsError = { readonly code: string; readonly message: string }

const DENIED =
  /AccessDenied|AuthorizationError|AuthFailure|InvalidClientTokenId|InvalidAccessKeyId|InvalidSecurity|UnrecognizedClient|SignatureDoesNotMatch|IncompleteSignature|InvalidSignature|MissingAuthentication|ExpiredToken|OptInRequired/i
const TOO_LARGE = /message must be shorter than (\d+) bytes|message too long|message length/i

type Of = { readonly status: number; readonly error: AwsError; readonly bytes: number; readonly name: string }

/** The meaning of an error of Amazon SQS or SNS. Throttling and faults of the service are judged by their status. */
export function awsAnswer({ status, error: { code, message }, bytes, name }: Of): Answer {
  const said = code === '' ? `It answered ${status}.` : `It says: ${code}${message === '' ? '' : `: ${message}`}`
  const [tooLarge, most] = TOO_LARGE.exec(message) ?? []
  if (tooLarge !== undefined)
    return {
      code: 'event_too_large',
      detail: `The event has ${bytes} bytes with its attributes, which is more than ${name} accepts${most === undefined ? '' : ` (${most} bytes)`}. Postroad does not retry it.`,
      isPermanent: true,
    }
  if (status === 401 || status === 403 || DENIED.test(code))
    return {
      code: 'auth_failed',
      detail: `${name} does not accept the credentials. Check auth, the region and the permissions of this key. ${said}`,
    }
  if (status === 429 || status >= 500 || /throttl/i.test(code)) return undefined
  return { code: 'refused', detail: `${name} refused the event. ${said}` }
}
