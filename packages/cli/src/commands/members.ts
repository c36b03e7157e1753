import { EXIT, Failure } from '../failure.ts'
import { readMembers } from '../send/data.ts'

export type SwitchOptions = { readonly on?: true; readonly off?: true; readonly data?: string }

/** The members of a request: those of --data, overridden by those of the options. */
export async function membersOf(
  { on, off, data }: SwitchOptions,
  named: Readonly<Record<string, unknown>>,
): Promise<object> {
  if (on === true && off === true) throw new Failure('Choose --on or --off.', EXIT.usage)
  const enabled = on === true ? true : off === true ? false : undefined
  const given = Object.entries({ ...named, enabled }).filter(([, value]) => value !== undefined)
  return { ...(await readMembers(data)), ...Object.fromEntries(given) }
}

/** The same for a change, which must change something. */
export async function changedMembers(
  options: SwitchOptions,
  named: Readonly<Record<string, unknown>>,
): Promise<object> {
  const members = await membersOf(options, named)
  if (Object.keys(members).length > 0) return members
  throw new Failure('Name a setting to change. Add --help to see them.', EXIT.usage)
}
