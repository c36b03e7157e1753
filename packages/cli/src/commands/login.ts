import { text as textOf } from 'node:stream/consumers'
import { Option, type Command } from 'commander'
import { canAsk, secretAsked } from '../ask.ts'
import { headersOfSession, ownUrl, urlGiven } from '../connection.ts'
import { EXIT, Failure, unreachable } from '../failure.ts'
import { http } from '../http.ts'
import { io } from '../io.ts'
import { invokedAs, withExample, type ConnectionOptions } from '../options.ts'
import { print, type OutputOptions } from '../output.ts'
import { changeProfiles, profileNamed, readProfiles, type Profile } from '../profiles.ts'
import { ASKED, signInByDevice, type Asked } from '../oauth/device.ts'
import { signOut } from '../oauth/tokens.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'

type LoginOptions = ConnectionOptions &
  OutputOptions & { readonly key?: true; readonly device?: true; readonly scope?: Asked }
type Named = OutputOptions & { readonly profile?: string }

const DEFAULT = 'default'
const ANSWER_MS = 30_000

export function addLogin(program: Command): void {
  const login = program
    .command('login')
    .summary('connect this command line, or save an API key')
    .description(
      'Shows a code that you confirm in a browser, where you also choose what this command line may do. The tokens are saved in a ' +
        'profile that only you can read, and are renewed automatically. Commands without SERVICE_TOKEN then use this profile. The console lists it ' +
        'under Connected agents.\n\n' +
        'With --key, or when something is piped in, it takes an API key (hk_…) or a sign-in link instead. With a sign-in link you are a ' +
        'person: only people may create API keys, invite members and change roles. The sign-in page emails a link, and "sign-in-link" prints one on the machine of the server.',
    )
    .option('--key', 'ask for an API key or a sign-in link')
    .option('--device', 'show a code even if the input is not a terminal')
    .addOption(
      new Option('--scope <scope>', 'access to request; you decide in the browser')
        .choices(Object.keys(ASKED))
        .default('write'),
    )
    .option('--url <url>', 'address of the server (default: that of the link, or POSTROAD_URL)')
    .option('--profile <profile>', `name to save it under (without it, ${DEFAULT})`)
    .option('--json', 'print one JSON object')
    .action(logIn)
  withExample(login, 'login --url https://hooks.example.com', 'login --profile staging < key.txt')

  const logout = program
    .command('logout')
    .summary('remove a saved API key or sign-in')
    .description(
      'Removes a profile. A connection of this command line and a sign-in as a person end on the server too. An API key continues to work elsewhere until you revoke it: see api-keys delete.',
    )
    .option('--profile <profile>', 'the profile to remove (without it, the one in use)')
    .option('--json', 'print one JSON object')
    .action(logOut)
  withExample(logout, 'logout')

  const profiles = program
    .command('profiles')
    .summary('list profiles, and choose one')
    .description('The servers and sign-ins that login saved on this machine.')
  const list = profiles
    .command('list')
    .summary('list profiles')
    .description('Lists the profiles, without their keys.')
    .option('--json', 'print one JSON object')
    .option('-q, --quiet', 'print names only')
    .action(listProfiles)
  withExample(list, 'profiles list')
  const use = profiles
    .command('use')
    .argument('<profile>', 'name of the profile')
    .summary('use a profile by default')
    .description('Uses this profile in every command that does not name another profile.')
    .option('--json', 'print one JSON object')
    .action(useProfile)
  withExample(use, 'profiles use staging')
}

async function logIn({ profile: named = DEFAULT, ...options }: LoginOptions): Promise<void> {
  const byDevice = options.device === true || (canAsk() && options.key !== true)
  const profile = byDevice ? await profileByDevice(options) : await profileOf(await givenSecret(), options)
  await changeProfiles((from) => ({ ...from, current: named, profiles: { ...from.profiles, [named]: profile } }))
  const { url, who } = profile
  const text = (): string =>
    fields([
      ['Signed in', plain(who)],
      ['Server', url],
      ['Profile', named],
      ['Next', `${invokedAs()} endpoints list`],
    ])
  print({ json: { profile: named, url, who }, ids: [named], text }, options)
}

async function givenSecret(): Promise<string> {
  return canAsk() ? secretAsked('API key (hk_…) or sign-in link: ') : (await textOf(io().stdin)).trim()
}

async function profileByDevice(options: LoginOptions): Promise<Profile> {
  const url = urlGiven(options) ?? ownUrl()
  const oauth = await signInByDevice(url, options.scope ?? 'write')
  return { url, who: await whoIs(url, { Authorization: `Bearer ${oauth.access_token}` }), oauth }
}

async function profileOf(given: string, options: ConnectionOptions): Promise<Profile> {
  if (given.startsWith('hk_')) {
    const url = urlGiven(options) ?? ownUrl()
    return { url, who: await whoIs(url, { Authorization: `Bearer ${given}` }), api_key: given }
  }
  const link = URL.canParse(given) ? new URL(given) : undefined
  const token = /^#t=(.+)$/.exec(link?.hash ?? '')?.[1]
  if (link === undefined || token === undefined)
    throw new Failure('This is neither an API key (hk_…) nor a sign-in link (https://…#t=…).', EXIT.usage)
  const url = urlGiven(options) ?? link.origin
  const session = await sessionFor(url, token)
  return { url, who: await whoIs(url, headersOfSession(session)), session }
}

/** The cookie of a new session. The link works once. */
async function sessionFor(url: string, token: string): Promise<string> {
  const response = await asked(`${url}/admin/api/session`, {
    method: 'POST',
    headers: { 'X-Requested-With': 'postroad-cli', 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  const cookie = response.headers.getSetCookie().find((one) => one.startsWith('service_session='))
  if (cookie !== undefined) return cookie.split(';')[0] ?? ''
  throw new Failure(`${url} did not start a session. Check that it is the address of a Postroad server.`)
}

async function whoIs(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await asked(`${url}/admin/api/me`, { headers })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each member can be missing
  const { user, role, workspace, api_key, agent } = (await response.json().catch(() => ({}))) as Me
  if (user === undefined || workspace === undefined)
    throw new Failure(`${url} did not respond like a Postroad server. Check the address.`)
  const scope = agent?.scopes?.at(-1)
  const way = scope !== undefined ? `, ${scope}` : api_key === undefined ? '' : ', by an API key'
  return `${user.email ?? user.name} (${role} of ${workspace.slug}${way})`
}

type Me = {
  readonly user?: { readonly name: string; readonly email: string | null }
  readonly role?: string
  readonly workspace?: { readonly slug: string }
  readonly api_key?: object
  readonly agent?: { readonly scopes?: readonly string[] }
}

async function asked(url: string, init: RequestInit): Promise<Response> {
  const { refusalIn } = await import('@postroad/sdk')
  let response: Response
  try {
    response = await http(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
  } catch (cause) {
    throw await unreachable(url, cause)
  }
  if (!response.ok) throw await refusalIn(response)
  return response
}

async function logOut({ profile: named, ...options }: Named): Promise<void> {
  const stored = await readProfiles()
  const name = named ?? stored.current
  if (name === null) throw new Failure('There is no profile in use. Name one with --profile.', EXIT.usage)
  const { url, session, oauth, who } = profileNamed(stored, name)
  if (oauth !== undefined) await signOut(url, oauth)
  // Ignores an error: the session has ended already, or the server cannot be reached.
  if (session !== undefined)
    await asked(`${url}/admin/api/session`, { method: 'DELETE', headers: headersOfSession(session) }).catch(
      () => undefined,
    )
  await changeProfiles(({ current, profiles: { [name]: _gone, ...profiles }, ...from }) => ({
    ...from,
    profiles,
    current: current === name ? null : current,
  }))
  const note =
    oauth !== undefined
      ? 'The connection has ended.'
      : session === undefined
        ? `The key still works elsewhere: see ${invokedAs()} api-keys delete.`
        : 'The session has ended.'
  print(
    { json: { profile: name, url }, ids: [name], text: () => `Removed ${name}: ${plain(who)}. ${style.dim(note)}` },
    options,
  )
}

async function listProfiles(options: Named): Promise<void> {
  const { current, profiles, projects } = await readProfiles()
  const rows = Object.entries(profiles).map(([name, { url, who, session, oauth }]) => ({
    name,
    url,
    who,
    kind: oauth !== undefined ? 'agent' : session === undefined ? 'api_key' : 'person',
    in_use: name === current,
    project: projects[url]?.slug ?? null,
  }))
  const text = (): string =>
    rows.length === 0
      ? `There are no profiles. Save one: ${invokedAs()} login`
      : table([
          { head: 'In use', cells: rows.map(({ in_use }) => (in_use ? '●' : '')) },
          { head: 'Profile', cells: rows.map(({ name }) => name) },
          { head: 'Server', cells: rows.map(({ url }) => url), least: 20 },
          { head: 'Signed in as', cells: rows.map(({ who }) => who), least: 16 },
          { head: 'Project', cells: rows.map(({ project }) => project ?? ''), spare: true },
        ])
  print({ json: { profiles: rows }, ids: rows.map(({ name }) => name), text }, options)
}

async function useProfile(named: string, options: OutputOptions): Promise<void> {
  const { url, who } = profileNamed(await readProfiles(), named)
  await changeProfiles((from) => ({ ...from, current: named }))
  print(
    {
      json: { profile: named, url, who },
      ids: [named],
      text: () => `Commands now use ${named}: ${plain(who)} at ${url}.`,
    },
    options,
  )
}
