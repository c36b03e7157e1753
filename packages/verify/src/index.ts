import { whenAnswered } from '#crypto'
import { explainSignature, type SignatureExplanation } from './explain.ts'
import type { Fetched, SignatureFailure } from './reading.ts'
import {
  receivedOf,
  settingsOf,
  type Preset,
  type Received,
  type RequestToVerify,
  type Scheme,
} from './sent-request.ts'
import type { VerificationSettings } from './settings.ts'
import { validateSecretForm } from './secret-form.ts'
import { isSignable, signRequest } from './sign-request.ts'
import { stateOfPassed, type VerificationState } from './verification-state.ts'
import { neededText, verifySignature } from './verify-signature.ts'

/** Verifies the requests of webhook providers, on every platform with Web Crypto. */

export type { Preset, RequestToVerify, Scheme } from './sent-request.ts'
export type { SignatureExplanation } from './explain.ts'
export type { SignatureFailure } from './reading.ts'
export type { VerificationScheme, VerificationSettings } from './settings.ts'
export { VERIFICATION_STATES, type VerificationState } from './verification-state.ts'

export type Verdict =
  | { readonly state: Exclude<VerificationState, 'failed'> }
  | ({ readonly state: 'failed' } & SignatureFailure)

/**
 * Checks a request of a provider. A request that does not pass has the state `failed`, with the reason and a sentence; it
 * never contains a secret. This throws only for a wrong call, and when `fetchText` throws.
 */
export async function verify(request: RequestToVerify): Promise<Verdict> {
  const settings = settingsOf(request.sender)
  const received = receivedOf(request)
  const fetched = await fetchedFor(settings, { received, request })
  if (fetched !== undefined && 'reason' in fetched) return { state: 'failed', ...fetched }
  const failure = await whenAnswered(() => verifySignature({ ...received, settings, fetched }))
  return failure === undefined ? { state: stateOfPassed(settings.scheme) } : { state: 'failed', ...failure }
}

/** Checks a request, and explains each step of the check with a sentence, and the likely mistakes. */
export async function explain(request: RequestToVerify): Promise<SignatureExplanation> {
  const settings = settingsOf(request.sender)
  if (settings.scheme === 'none') throw new TypeError('The scheme none checks nothing, so there is nothing to explain.')
  const received = receivedOf(request)
  const fetched = await fetchedFor(settings, { received, request })
  const [current, previous] = received.secrets
  const secrets = [
    ...(current === undefined ? [] : [{ name: 'current' as const, value: current }]),
    ...(previous === undefined ? [] : [{ name: 'previous' as const, value: previous }]),
  ]
  return whenAnswered(() =>
    explainSignature({
      ...received,
      settings,
      secrets,
      fetched: fetched !== undefined && 'reason' in fetched ? undefined : fetched,
    }),
  )
}

type Asked = { readonly received: Received; readonly request: RequestToVerify }

async function fetchedFor(
  settings: VerificationSettings,
  { received, request: { fetchText } }: Asked,
): Promise<Fetched | SignatureFailure | undefined> {
  let fetched: Fetched | undefined
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- each text names the next one
    const needed = await whenAnswered(() => neededText(settings, { ...received, fetched }))
    if (needed === undefined) return fetched
    if ('reason' in needed) return needed
    if (fetchText === undefined)
      throw new TypeError(
        `The scheme ${settings.scheme} needs ${needed.url}. Pass "fetchText", which returns the text at a URL.`,
      )
    // oxlint-disable-next-line no-await-in-loop -- as above
    fetched = { ...needed, text: await fetchText(needed.url, { isFresh: needed.isFresh === true }) }
  }
}

export type RequestToSign = {
  readonly sender: Preset | Scheme
  readonly secret: string
  readonly body: string | Uint8Array
  /** Identifies the request, for a scheme that signs an id. */
  readonly id?: string
  readonly url?: string
  readonly now?: number
}

/** The headers that a sender with this secret would send with the body, for tests of a receiver. */
export async function sign({ sender, secret, body, id, url, now }: RequestToSign): Promise<Record<string, string>> {
  const settings = settingsOf(sender)
  if (settings.scheme === 'none' || !isSignable(settings))
    throw new TypeError(`Only the sender can sign with the scheme ${settings.scheme}.`)
  const { nowSeconds, body: bytes } = receivedOf({
    sender,
    secret,
    headers: {},
    body,
    ...(now === undefined ? {} : { now }),
  })
  // oxlint-disable-next-line house/no-ambient -- a package that runs anywhere has no platform of ours
  const named = id ?? `msg_${globalThis.crypto.randomUUID()}`
  return whenAnswered(() => signRequest({ settings, secret, id: named, body: bytes, nowSeconds, url }))
}

/** The reason why no request could match a secret, such as a public key that cannot be read; undefined: its form is right. */
export async function secretProblem(sender: Preset | Scheme, secret: string): Promise<string | undefined> {
  return whenAnswered(() => validateSecretForm(settingsOf(sender), secret))
}
