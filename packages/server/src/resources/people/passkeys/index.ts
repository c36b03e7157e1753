import { encodeId, LIMITS } from '@postroad/contract'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Ctx, Deps } from '../../../context.ts'
import { isIpAddress } from '../../../domain/ip-range.ts'
import { refuse, Refusal } from '../../../domain/refusal.ts'
import { DbError } from '../../../platform/db.ts'
import { mintToken, useToken } from '../one-time-tokens/index.ts'
import { auditOwn, type UserRow } from '../users/index.ts'
import { deletePasskey, findPasskey, insertPasskey, listPasskeys, setUsed } from './queries.ts'

/** Loaded at the first use: it brings 250 modules, a fifth of all modules that the server would load at its start. */
const webAuthn = () => import('@simplewebauthn/server')

const TIMEOUT_MS = LIMITS.passkeyChallengeMs
/** The signature algorithms of passkeys (COSE numbers), most common first: ES256, EdDSA, RS256. */
const ALGORITHMS = [-7, -8, -257]

/** Passkeys belong to a host name, and browsers accept no IP address as one. */
export function passkeysWork(deps: Pick<Deps, 'baseUrl'>): boolean {
  const { hostname } = new URL(deps.baseUrl())
  return !isIpAddress(hostname.replace(/^\[|\]$/g, ''))
}

/** The server for which the browser must have created the response, from PUBLIC_URL, whatever host the request names. */
function relyingParty(deps: Deps): { rpID: string; origin: string } {
  if (!passkeysWork(deps)) throw refuse('passkeys_unavailable')
  const { hostname, origin } = new URL(deps.baseUrl())
  return { rpID: hostname, origin }
}

/** Options for signing in without naming an account, because the passkey identifies it. */
export async function signInOptions(deps: Deps) {
  const { rpID } = relyingParty(deps)
  const { generateAuthenticationOptions } = await webAuthn()
  const options = await generateAuthenticationOptions({ rpID, userVerification: 'required', timeout: TIMEOUT_MS })
  await mintToken(
    { ...deps, db: deps.database },
    { purpose: 'passkey_sign_in', userId: null, lifeMs: TIMEOUT_MS, token: options.challenge },
  )
  return options
}

/** The person whose passkey answered a challenge of this server. A challenge can be used once, even if the response is wrong. */
export async function identifyPasskey(deps: Deps, response: AuthenticationResponseJSON): Promise<{ userId: string }> {
  const { rpID, origin } = relyingParty(deps)
  const { verifyAuthenticationResponse } = await webAuthn()
  return refusing(deps, async () => {
    const passkey = await findPasskey(deps.database, response.id)
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: async (token) =>
        (await useToken(deps.database, { purpose: 'passkey_sign_in', token, now: deps.clock.now() })) !== undefined,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      credential:
        passkey === undefined
          ? NOBODYS
          : { id: passkey.credential_id, publicKey: new Uint8Array(passkey.public_key), counter: passkey.counter },
    })
    if (!verified || passkey === undefined) throw refuse('passkey_refused')
    await setUsed(deps.database, {
      id: passkey.id,
      counter: authenticationInfo.newCounter,
      now: new Date(deps.clock.now()),
    })
    return { userId: passkey.user_id }
  })
}

/** Takes the place of an unknown passkey: no signature matches it, but its challenge is used up all the same. */
const NOBODYS = { id: '', publicKey: new Uint8Array(), counter: 0 }

export async function registrationOptions(deps: Deps, user: UserRow) {
  const { rpID } = relyingParty(deps)
  const known = await listPasskeys(deps.database, user.id)
  if (known.length >= LIMITS.passkeysPerUserMax) throw refuse('passkey_limit_reached')
  const { generateRegistrationOptions } = await webAuthn()
  const options = await generateRegistrationOptions({
    rpName: 'Postroad',
    rpID,
    userID: handleOf(user.id),
    userName: user.email ?? user.name,
    userDisplayName: user.name,
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map(({ credential_id: id, transports }) => ({ id, transports: [...transports] })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  await mintToken(
    { ...deps, db: deps.database },
    { purpose: 'passkey_registration', userId: user.id, lifeMs: TIMEOUT_MS, token: options.challenge },
  )
  return options
}

/** Checks the result of the browser, before the transaction that stores it. */
export async function checkRegistration(deps: Deps, of: { userId: string; response: RegistrationResponseJSON }) {
  const { rpID, origin } = relyingParty(deps)
  const { verifyRegistrationResponse } = await webAuthn()
  return refusing(deps, async () => {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: of.response,
      expectedChallenge: async (token) =>
        (await useToken(deps.database, { purpose: 'passkey_registration', token, now: deps.clock.now() }))?.user_id ===
        of.userId,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) throw refuse('passkey_refused')
    const { id, publicKey, counter } = registrationInfo.credential
    return { credentialId: id, publicKey, counter, transports: transportsIn(of.response.response.transports) }
  })
}

/** The library does not check these, and browsers use them only as a hint. */
function transportsIn(given: unknown): readonly string[] {
  return Array.isArray(given) ? TRANSPORTS.filter((known) => given.includes(known)) : []
}

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']

type Registered = Awaited<ReturnType<typeof checkRegistration>>

export async function storePasskey(tx: Ctx, of: Registered & { userId: string; name: string }) {
  // Registrations that were started while there was room may end together.
  const known = await listPasskeys(tx.db, of.userId)
  if (known.length >= LIMITS.passkeysPerUserMax) throw refuse('passkey_limit_reached')
  const id = tx.uuid()
  const inserted = await insertPasskey(tx.db, { ...of, id, now: new Date(tx.clock.now()) })
  if (!inserted) throw refuse('passkey_refused', 'This passkey is already registered. Sign in with it.')
  await auditOwn(tx, { action: 'add_passkey', target: encodeId('passkey', id), details: { name: of.name } })
  return { id: encodeId('passkey', id), name: of.name }
}

export async function removePasskey(tx: Ctx, of: { id: string; userId: string }): Promise<void> {
  if ((await deletePasskey(tx.db, of)) === 0) throw refuse('not_found')
  await auditOwn(tx, { action: 'remove_passkey', target: encodeId('passkey', of.id) })
}

export async function listOwnPasskeys(deps: Deps, userId: string) {
  const found = await listPasskeys(deps.database, userId)
  return found.map(({ id, name, created_at, last_used_at }) => ({
    id: encodeId('passkey', id),
    name,
    created_at: created_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
  }))
}

/** The library throws different errors for different faults of a response. The caller gets the same refusal for all of them. */
async function refusing<T>(deps: Deps, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Refusal || (cause instanceof DbError && cause.unavailable)) throw cause
    // The library quotes challenges and origins, which do not belong in the log.
    deps.log.debug('passkey.refused', {
      why: cause instanceof Error ? cause.message.replaceAll(/"[^"]*"/g, '"…"') : 'unknown',
    })
    throw new Refusal('passkey_refused', { cause })
  }
}

/** The handle that a passkey stores for its owner: the bytes of the user's id, which reveal nothing about the person. */
function handleOf(userId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(userId.replaceAll('-', ''), 'hex'))
}
