import { join } from 'node:path'
import { configFolder, readJsonFile, replaceFile } from './config-folder.ts'
import { EXIT, Failure } from './failure.ts'
import type { OauthTokens } from './oauth/tokens.ts'
import { invokedAs } from './options.ts'

/** A server, and the proof of a caller: an API key, the tokens of this command line, or the session cookie of a person. */
export type Profile = {
  readonly url: string
  readonly who: string
  readonly api_key?: string
  readonly oauth?: OauthTokens
  readonly session?: string
}

export type Profiles = {
  readonly current: string | null
  readonly profiles: Readonly<Record<string, Profile>>
  /** The project that commands use, by the address of the server. */
  readonly projects: Readonly<Record<string, { readonly id: string; readonly slug: string }>>
}

const NONE: Profiles = { current: null, profiles: {}, projects: {} }

export const profilesFile = (): string => join(configFolder(), 'profiles.json')

export async function readProfiles(): Promise<Profiles> {
  try {
    return { ...NONE, ...(await readJsonFile(profilesFile())) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Failure(`${profilesFile()} is not JSON. Repair or remove it, and run ${invokedAs()} login.`)
  }
}

/** Changes the file in one step. */
export async function changeProfiles(change: (from: Profiles) => Profiles): Promise<void> {
  await replaceFile(profilesFile(), `${JSON.stringify(change(await readProfiles()), null, 2)}\n`)
}

/** The profile of a name that a person typed. */
export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile !== undefined) return profile
  throw new Failure(`There is no profile "${name}". See ${invokedAs()} profiles list.`, EXIT.usage)
}
