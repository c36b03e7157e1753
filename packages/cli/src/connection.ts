import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Client } from '@postroad/sdk'
import { EXIT, Failure } from './failure.ts'
import { http } from './http.ts'
import { io } from './io.ts'
import { freshToken } from './oauth/stored.ts'
import { invokedAs, type ConnectionOptions } from './options.ts'
import { profileNamed, readProfiles, type Profile, type Profiles } from './profiles.ts'
import { localApiKey } from './server.ts'

export type ProofHeaders = Readonly<Record<string, string>>

export type Connection = {
  readonly client: Client
  readonly baseUrl: string
  /** The headers that prove the caller, for requests besides those of the client. A token in them can be a new one. */
  readonly headers: () => Promise<ProofHeaders>
  /** The project of project routes; undefined: the Default project. */
  readonly project: string | undefined
}

/** A server and the caller. `mayBeOfOneProject`: a person gave the key, so it can be a one-project key. */
type Access = {
  readonly baseUrl: string
  readonly headers: () => Promise<ProofHeaders>
  readonly mayBeOfOneProject: boolean
}

/** A closed port fails immediately. A busy server can need this long. */
const HEALTH_TIMEOUT_MS = 15_000

/** A client for the server and the project in the options, the environment and the profiles. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const stored = await readProfiles()
  // The schemas load in a quarter of a second. `start` and `--help` do without. Meanwhile this creates the local key.
  const [access, { Postroad }] = await Promise.all([accessOf(options, stored), import('@postroad/sdk')])
  const { baseUrl, headers } = access
  const call: typeof fetch = async (input, init) =>
    http(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...(await headers()) } })
  const client = new Postroad({ url: baseUrl, fetch: call })
  const project = await projectOf(client, { named: options.project, access, stored })
  return {
    client: project === undefined ? client : new Postroad({ url: baseUrl, fetch: call, project }),
    baseUrl,
    headers,
    project,
  }
}

/** The first of these variables that has a value. The help names the first one; the others are aliases. */
function setting(...names: readonly string[]): string | undefined {
  return names.map((name) => io().env[name]?.trim()).find((value) => value !== undefined && value !== '')
}

/** The order is: the profile that is named, the key of the environment, the profile of this server, the key of this machine. */
async function accessOf(options: ConnectionOptions, stored: Profiles): Promise<Access> {
  const name = options.profile ?? setting('POSTROAD_PROFILE')
  if (name !== undefined) return ofProfile({ name, profile: profileNamed(stored, name) }, options)
  const key = setting('SERVICE_TOKEN', 'POSTROAD_TOKEN')
  const url = urlGiven(options)
  if (key !== undefined) return withKey(url ?? ownUrl(), key)
  const found = storedProfile(stored, url)
  if (found !== undefined) return ofProfile(found, options)
  const baseUrl = url ?? ownUrl()
  return { ...withKey(baseUrl, await tokenOfThisMachine(baseUrl)), mayBeOfOneProject: false }
}

const withKey = (baseUrl: string, key: string): Access => ({
  baseUrl,
  headers: async () => ({ Authorization: `Bearer ${key}` }),
  mayBeOfOneProject: true,
})

type Named = { readonly name: string; readonly profile: Profile }

/** The profile in use, if it is for this server; otherwise any profile for it. A key is never sent to another server. */
function storedProfile({ current, profiles }: Profiles, url: string | undefined): Named | undefined {
  const all = Object.entries(profiles).map(([name, profile]) => ({ name, profile }))
  const inUse = all.find(({ name }) => name === current)
  if (url === undefined || inUse?.profile.url === url) return inUse
  return all.find(({ profile }) => profile.url === url)
}

function ofProfile({ name, profile }: Named, options: ConnectionOptions): Access {
  const url = urlGiven(options)
  if (options.url !== undefined && url !== profile.url)
    throw new Failure(`The profile "${name}" is for ${profile.url}. Leave out --url or --profile.`, EXIT.usage)
  const { url: baseUrl, session } = profile
  if (session !== undefined)
    return { baseUrl, headers: async () => headersOfSession(session), mayBeOfOneProject: false }
  if (profile.oauth === undefined) return withKey(baseUrl, profile.api_key ?? '')
  return {
    baseUrl,
    headers: async () => ({ Authorization: `Bearer ${await freshToken(name)}` }),
    mayBeOfOneProject: false,
  }
}

/** A header that no form of another page can send proves that the request comes from a program of the person. */
export const headersOfSession = (cookie: string): ProofHeaders => ({
  Cookie: cookie,
  'X-Requested-With': 'postroad-cli',
})

/** `--url`, POSTROAD_URL or its alias SERVICE_URL; undefined without any of them. */
export function urlGiven({ url }: ConnectionOptions): string | undefined {
  const given = url ?? setting('POSTROAD_URL', 'SERVICE_URL')
  if (given === undefined || given === '') return undefined
  const parsed = URL.canParse(given) ? new URL(given) : undefined
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) return given.replace(/\/+$/, '')
  throw new Failure(`"${given}" is not the address of a server. Write it as https://hooks.example.com.`, EXIT.usage)
}

/** The address where a server with this environment listens. */
export function ownUrl(): string {
  const host = io().env['HOST'] ?? '127.0.0.1'
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${io().env['PORT'] ?? '4680'}`
}

/** The local key never leaves this machine, so every other address needs a token. */
async function tokenOfThisMachine(baseUrl: string): Promise<string> {
  const { hostname } = new URL(baseUrl)
  const here =
    baseUrl === ownUrl() || hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  if (!here)
    throw new Failure(
      `Run ${invokedAs()} login --url ${baseUrl}, or set SERVICE_TOKEN to an API key of ${baseUrl} (hk_…).`,
      EXIT.refused,
    )
  if (!(await answers(baseUrl))) {
    throw new Failure(
      `No Postroad server responds at ${baseUrl}. Start it with "${invokedAs()} start", or set --url or POSTROAD_URL to its address.`,
    )
  }
  const dataDir = resolve(io().env['DATA_DIR'] ?? './data')
  if (!existsSync(dataDir) && (io().env['DATABASE_URL'] ?? '') === '') {
    throw new Failure(
      `The folder ${dataDir} does not exist. Set SERVICE_TOKEN to an API key (hk_…), or DATA_DIR to the folder of the server.`,
      EXIT.refused,
    )
  }
  return localApiKey()
}

async function answers(baseUrl: string): Promise<boolean> {
  try {
    const response = await http(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
    return response.ok
  } catch {
    return false
  }
}

type Wanted = { readonly named: string | undefined; readonly access: Access; readonly stored: Profiles }

/** Returns an id as it is, and looks up a slug. Without a name: that of a one-project key, or that of `project use`. */
async function projectOf(client: Client, { named, access, stored }: Wanted): Promise<string | undefined> {
  if (named !== undefined) return projectId(client, named)
  const ofKey = access.mayBeOfOneProject ? (await client.me.get()).api_key?.project_id : undefined
  return ofKey ?? stored.projects[access.baseUrl]?.id
}

async function projectId(client: Client, named: string): Promise<string> {
  if (named.startsWith('prj_')) return named
  for await (const project of client.projects.list({ limit: 200 })) if (project.slug === named) return project.id
  throw new Failure(`There is no project "${named}" here. Name it by its slug or its id (prj_…).`, EXIT.notFound)
}
