import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { identifyPasskey, signInOptions } from '../passkeys/index.ts'
import { atTheDoor, throttleNetwork, welcome, type Visit } from './visit.ts'

export async function offerPasskey(visit: Visit) {
  await throttleNetwork(visit)
  return signInOptions(visit)
}

export async function signInByPasskey(visit: Visit, response: AuthenticationResponseJSON): Promise<string> {
  await throttleNetwork(visit)
  const { userId } = await identifyPasskey(visit, response)
  return atTheDoor(visit, (tx) => welcome(visit, tx, { userId, method: 'passkey' }))
}
