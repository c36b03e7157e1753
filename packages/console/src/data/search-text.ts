/** The part after the "?" of an address: texts, and lists where a name occurs more than once. */
export type Search = Readonly<Record<string, string | readonly string[] | undefined>>

/** `f` is always a list of conditions. */
const LISTS: ReadonlySet<string> = new Set(['f'])

export function parseSearch(text: string): Record<string, string | string[]> {
  const members = new URLSearchParams(text)
  return Object.fromEntries(
    [...new Set(members.keys())].map((name) => [
      name,
      LISTS.has(name) ? members.getAll(name) : (members.get(name) ?? ''),
    ]),
  )
}

/** Colons and commas are not escaped, so that a person can read a filter in the address bar. */
export function searchText(search: Search): string {
  const members = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    for (const one of typeof value === 'string' ? [value] : (value ?? [])) if (one !== '') members.append(name, one)
  }
  const text = members.toString().replaceAll('%3A', ':').replaceAll('%2C', ',')
  return text === '' ? '' : `?${text}`
}
